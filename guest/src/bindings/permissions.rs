//! Permissions in the types of the interface.

use super::exports::acp::sessions::sessions as wit;
use crate::sessions::permissions::{Outcome, Permission, PermissionAnswer, PermissionOption, PermissionPage};

impl From<PermissionPage> for wit::PermissionPage {
    fn from(page: PermissionPage) -> Self {
        Self { permissions: page.permissions.into_iter().map(Into::into).collect(), next_cursor: page.next_cursor }
    }
}

impl From<Permission> for wit::Permission {
    fn from(permission: Permission) -> Self {
        Self {
            session_id: permission.session_id,
            asked_at: permission.asked_at,
            tool_call_id: permission.tool_call_id,
            title: permission.title,
            tool_call: permission.tool_call,
            options: permission.options.into_iter().map(Into::into).collect(),
            answer: permission.answer.map(Into::into),
        }
    }
}

impl From<PermissionOption> for wit::PermissionOption {
    fn from(option: PermissionOption) -> Self {
        Self { id: option.id, name: option.name, kind: option.kind }
    }
}

impl From<PermissionAnswer> for wit::PermissionAnswer {
    fn from(answer: PermissionAnswer) -> Self {
        Self {
            answered_at: answer.answered_at,
            client: answer.client,
            outcome: match answer.outcome {
                Outcome::Selected(option) => wit::PermissionOutcome::Selected(option.into()),
                Outcome::Cancelled => wit::PermissionOutcome::Cancelled,
                Outcome::Failed(why) => wit::PermissionOutcome::Failed(why),
            },
        }
    }
}
