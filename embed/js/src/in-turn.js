/** Runs what is told step by step, each of which is waited for; one after the other. */
export function inTurn() {
  let before = Promise.resolve();
  return (steps) => {
    const done = before.then(() => run(steps));
    before = done.catch(() => {});
    return done;
  };
}

async function run(steps) {
  let step = steps.next();
  while (!step.done) {
    let value;
    try {
      value = await step.value();
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value);
  }
  return step.value;
}
