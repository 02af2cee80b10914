from .session import Session as Session
from .update import SessionUpdate as SessionUpdate
