//! The story: new, prompt, list, load in a second process, resume, fork, another mode, cancel, delete, list.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CloseSessionRequest, DeleteSessionRequest, ForkSessionRequest, LoadSessionRequest, NewSessionRequest,
    ResumeSessionRequest, SessionModeState, SetSessionModeRequest, StopReason,
};
use serde_json::{Value, json};

use crate::seat::{Seat, Speaker, play};

const QUESTION: &str = "What is the answer?\nI have been wondering for a while.";
const FOLLOW_UP: &str = "And what was the question?";

pub(crate) struct Story {
    pub(crate) cwd: String,
    pub(crate) endless: String,
    pub(crate) command: Vec<String>,
}

struct Opened {
    session: String,
    modes: SessionModeState,
    answer: String,
}

impl Story {
    pub(crate) async fn tell(&self) -> Result<Value, Error> {
        let opened = play(&self.command, async |seat| self.open(seat).await).await?;
        play(&self.command, async |seat| self.load(seat, &opened).await).await?;
        let (fork, stop) = play(&self.command, async |seat| self.branch(seat, &opened).await).await?;
        play(&self.command, async |seat| self.end(seat, &opened, &fork).await).await?;
        Ok(json!({"sessionId": opened.session, "forkId": fork, "answer": opened.answer, "stopReason": stop}))
    }

    async fn open(&self, seat: &mut Seat) -> Result<Opened, Error> {
        let abilities = &seat.hello.agent_capabilities;
        assert!(abilities.load_session);
        let offers = json!(abilities.session_capabilities);
        for ability in ["list", "delete", "resume", "close", "fork"] {
            assert_eq!(offers[ability], json!({}), "{ability}");
        }
        let new = seat.request(NewSessionRequest::new(&self.cwd)).await?;
        let session = new.session_id.to_string();
        let turn = seat.prompt(&session, QUESTION).await?;
        assert_eq!(turn.stop_reason, StopReason::EndTurn);
        let answer = seat.text(&session, Speaker::Agent);
        assert!(!answer.is_empty());
        let rows = seat.list().await?;
        let row = rows.iter().find(|row| row.session_id == new.session_id).expect("the session is listed");
        assert_eq!(row.cwd.to_str(), Some(self.cwd.as_str()));
        assert_eq!(row.title.as_deref(), Some("What is the answer?"));
        assert!(row.updated_at.is_some());
        Ok(Opened { session, modes: new.modes.expect("modes"), answer })
    }

    async fn load(&self, seat: &mut Seat, opened: &Opened) -> Result<(), Error> {
        let loaded = seat.request(LoadSessionRequest::new(opened.session.clone(), &self.cwd)).await?;
        assert_eq!(seat.text(&opened.session, Speaker::User), QUESTION);
        assert_eq!(seat.text(&opened.session, Speaker::Agent), opened.answer);
        assert_eq!(loaded.modes.expect("modes").current_mode_id, opened.modes.current_mode_id);
        Ok(())
    }

    async fn branch(&self, seat: &mut Seat, opened: &Opened) -> Result<(String, StopReason), Error> {
        let session = opened.session.as_str();
        seat.request(ResumeSessionRequest::new(session.to_owned(), &self.cwd)).await?;
        assert_eq!(seat.text(session, Speaker::Agent), "", "resume replays nothing");

        let fork = seat.request(ForkSessionRequest::new(session.to_owned(), &self.cwd)).await?;
        let fork = fork.session_id.to_string();
        assert_ne!(fork, session);
        seat.request(SetSessionModeRequest::new(fork.clone(), opened.other_mode())).await?;
        seat.prompt(&fork, FOLLOW_UP).await?;
        let ids = ids(seat).await?;
        assert!(ids.contains(&fork) && ids.contains(&opened.session), "{ids:?}");

        let pending = seat.prompt(session, &self.endless);
        seat.spoken(session).await;
        seat.cancel(session)?;
        Ok((fork, pending.await?.stop_reason))
    }

    async fn end(&self, seat: &mut Seat, opened: &Opened, fork: &str) -> Result<(), Error> {
        let loaded = seat.request(LoadSessionRequest::new(fork.to_owned(), &self.cwd)).await?;
        assert_eq!(loaded.modes.expect("modes").current_mode_id.to_string(), opened.other_mode());
        assert_eq!(seat.text(fork, Speaker::User), format!("{QUESTION}{FOLLOW_UP}"));
        let loaded = seat.request(LoadSessionRequest::new(opened.session.clone(), &self.cwd)).await?;
        assert_eq!(loaded.modes.expect("modes").current_mode_id, opened.modes.current_mode_id);
        assert_eq!(seat.text(&opened.session, Speaker::User), format!("{QUESTION}{}", self.endless));

        seat.request(CloseSessionRequest::new(fork.to_owned())).await?;
        for gone in [fork, &opened.session] {
            seat.request(DeleteSessionRequest::new(gone.to_owned())).await?;
        }
        let ids = ids(seat).await?;
        assert!(!ids.contains(&opened.session) && !ids.iter().any(|id| id == fork), "{ids:?}");
        let error = seat.request(LoadSessionRequest::new(opened.session.clone(), &self.cwd)).await;
        let error = error.expect_err("a deleted session cannot be loaded");
        assert_eq!(i32::from(error.code), -32002);
        assert_eq!(error.data.map(|data| data["sessionId"].clone()), Some(json!(opened.session)));
        Ok(())
    }
}

impl Opened {
    fn other_mode(&self) -> String {
        let mut ids = self.modes.available_modes.iter().map(|mode| &mode.id);
        ids.find(|id| **id != self.modes.current_mode_id).expect("a second mode").to_string()
    }
}

async fn ids(seat: &Seat) -> Result<Vec<String>, Error> {
    Ok(seat.list().await?.into_iter().map(|row| row.session_id.to_string()).collect())
}
