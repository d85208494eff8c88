"""code.execute: a program over the owner's files, and the changes back when she agrees."""

from nova_desktop.execute.plan import ChangePlan
from nova_desktop.execute.service import ApproveCallback, ExecutionService

__all__ = ["ApproveCallback", "ChangePlan", "ExecutionService"]
