"""Limits of the search through the files under public/."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileLimits:
    """Limits of the search through the files under public/.

    Attributes:
        media: media files of each side of the split that are opened and decoded; all are hashed when their
            sizes allow them to be equal.
        media_bytes: and at most this many bytes of them, so that large photographs do not take minutes.
        pixels: an image of more is not decoded: 64 million pixels are larger than cameras make, and an
            image that claims more may be made to fill the memory.
        sound_seconds: of a recording this much is looked at, from its start.
        member_bytes: a member of an archive is read up to this size.
        archive_bytes: all members of an archive together are read up to this size.
        members: entries of an archive that are looked at.
        packed_members: media in an archive are known up to this many; their names take some 0.5 KB each.
        text_bytes: of a file that is no table this much is searched for answers; lists of a million ids
            fit.
        scanned_files: files that are searched for answers one by one; where there are more, they are
            searched as assets, by a sample.
        assets: side files of test rows, one for each row, that are read in search of answers.
        linked_share: share of a column's cells that must name files for the column to be one of file names.
        covered_share: share of the test ids that a list must name to be looked at as answers by id.
        told_share: agreement beyond chance (Cohen's kappa) from which a list of values is the answers.
        told_rows: with fewer rows a list may equal the answers by accident.
        missing_share: share of rows without their file that makes a task unworkable; below it a warning.
        unreadable_share: the same for files that cannot be opened.
        orphaned_share: share of media files without a row that is worth a word.
        path_gain: share of the way from the majority class to perfect by which a name or folder of a test
            file gives the label away; honest names (numbers dealt at random) stay at 0.
        path_hint: the same for a warning.
        metadata_gain: share of the way to perfect from which size or dimensions give the label away.
            Content shows in the size of a compressed file, so less than this is honest.
        metadata_hint: the same for a warning.
        telling_z: by how many standard deviations a name or size must tell the label better than chance: at
            6 the best of a hundred columns is no accident.
        run_seconds: files written by one run of prepare.py differ by less than this in their time.
        shared_files: this many equal files on both sides, and
        shared_share: this share of the test files, are no accident; blank images and silence occur.
        shared_label_share: the same when the copies have the labels of their originals.
        near_share: share of test files or texts that all but equal a training one, beyond what is found
            within the training data, that matters.
        near_z: by how many standard errors that share must exceed the one within training.
        near_many: share of all but equal test rows from which agreement of labels alone makes an error, as
            when rows were multiplied before the split.
        near_noted: the same for a warning; a few per cent of plain pictures (trousers, ones) and of reviews
            repeat by nature.
        near_agreement: kappa of labels between a test row and its near copy from which the copy tells the
            label.
        near_copied: the same where near copies are more than nature makes; those that nature makes are among
            them and agree less.
        image_distance: one minus the correlation of two thumbnails below which they may show the same
            picture; compression and noise move less than 0.01, other pictures of one class rarely less than
            0.05.
        sound_distance: the same for the spectrograms of two recordings.
        turned_files: training images that are compared with the others mirrored and turned, to learn how
            often they match by nature.
        typical_part: and at most this part of the usual distance to the nearest training file, so that
            plain, small images, which all resemble each other, are not taken for copies.
        text_overlap: share of words and pairs of words (Jaccard) from which two texts are the same text.
        text_words: shorter texts are formulas that many rows share by nature.
        text_rows: texts of the training table that are looked at.
    """

    media: int = 2_000
    media_bytes: int = 512 * 1024 * 1024
    pixels: int = 64_000_000
    sound_seconds: float = 10.0
    member_bytes: int = 256 * 1024 * 1024
    archive_bytes: int = 2 * 1024 * 1024 * 1024
    members: int = 100_000
    packed_members: int = 1_000_000
    text_bytes: int = 32 * 1024 * 1024
    scanned_files: int = 1_000
    assets: int = 300
    linked_share: float = 0.5
    covered_share: float = 0.2
    told_share: float = 0.9
    told_rows: int = 20
    missing_share: float = 0.01
    unreadable_share: float = 0.01
    orphaned_share: float = 0.01
    path_gain: float = 0.1
    path_hint: float = 0.03
    metadata_gain: float = 0.9
    metadata_hint: float = 0.6
    telling_z: float = 6.0
    run_seconds: float = 3_600.0
    shared_files: int = 3
    shared_share: float = 0.02
    shared_label_share: float = 0.005
    near_share: float = 0.02
    near_z: float = 4.0
    near_many: float = 0.3
    near_noted: float = 0.1
    near_agreement: float = 0.8
    near_copied: float = 0.6
    image_distance: float = 0.02
    sound_distance: float = 0.02
    turned_files: int = 1_000
    typical_part: float = 0.25
    text_overlap: float = 0.7
    text_words: int = 8
    text_rows: int = 200_000
