"""Can set B replace set A? Agreement of sets of ratings or scores, as data (JSON) and in words."""

from reports.agreement.document import agreement_document, agreement_of_files
from reports.agreement.names import is_part_whole

__all__ = ["agreement_document", "agreement_of_files", "is_part_whole"]
