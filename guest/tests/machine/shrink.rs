//! Makes a failing case smaller, as long as the same check fails.

use crate::case::{Case, Step};
use crate::kind::{Kind, Trait};

/// How many smaller cases are tried at most.
const MOST: u32 = 4000;

/// The smallest case found for which `fails` still holds.
pub(crate) fn shrink(case: &Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut search = Search { best: case.clone(), fails, left: MOST };
    loop {
        let before = search.best.clone();
        search.drop_steps();
        search.drop_traits();
        search.one_line();
        if search.best == before || search.left == 0 {
            return search.best;
        }
    }
}

struct Search<'a> {
    best: Case,
    fails: &'a dyn Fn(&Case) -> bool,
    left: u32,
}

impl Search<'_> {
    fn try_out(&mut self, case: Case) -> bool {
        if self.left == 0 || case == self.best {
            return false;
        }
        self.left -= 1;
        let fails = (self.fails)(&case);
        if fails {
            self.best = case;
        }
        fails
    }

    fn drop_steps(&mut self) {
        let mut size = self.best.steps.len().max(1);
        while size > 0 {
            let mut at = 0;
            while at < self.best.steps.len() {
                let mut case = self.best.clone();
                case.steps.drain(at..(at + size).min(case.steps.len()));
                if !self.try_out(case) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    fn drop_traits(&mut self) {
        for at in 0..self.best.kinds.len() {
            let mut case = self.best.clone();
            case.kinds[at] = Kind(1 << Trait::Named as u32);
            self.try_out(case);
            for habit in Trait::ALL {
                let mut case = self.best.clone();
                case.kinds[at] = case.kinds[at].without(habit);
                self.try_out(case);
            }
        }
    }

    fn one_line(&mut self) {
        let mut case = self.best.clone();
        for step in &mut case.steps {
            match step {
                Step::Client(line, _)
                | Step::Agent(line, _)
                | Step::Outside(line, ..)
                | Step::Turn(line, ..)
                | Step::Tick(line)
                | Step::Room(line, _)
                | Step::Pile(line, _)
                | Step::End(line, _)
                | Step::Trap(line)
                | Step::Restart(line)
                | Step::FirstList(line)
                | Step::Settle(line) => *line = 0,
                Step::Clock(_) | Step::Fault(..) => {}
            }
        }
        self.try_out(case);
    }
}
