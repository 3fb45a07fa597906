"""Folders of media: images, recordings and documents, what they measure, and which class each belongs to."""

from generator.media.folder import MediaFolder, find_media
from generator.media.kinds import SUFFIXES, media_kind
from generator.media.labels import Labels, labelled

__all__ = ["SUFFIXES", "Labels", "MediaFolder", "find_media", "labelled", "media_kind"]
