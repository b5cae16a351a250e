// Plays to an engine what all packages are measured with: parts of `bench/workload.json`, as `cargo xtask bench embeds` sends them.

/**
 * One line after the other, and all of them so many `times`; what follows is taken, in pieces of so much `room`. `idle`: after how many lines
 * it is time for that; 0 is never. `answered`: what the engine asks of the agent by itself is answered.
 *
 * @returns how long it took in milliseconds, how many lines came out, and the last one for the client
 */
export async function play(engine, { lines, times = 1, idle = 0, answered = false, room }) {
  const arrivals = lines.map(([peer, line]) => arrival(peer, line));
  const played = { lines: 0, last: undefined };
  const asked = [];
  /** Notes what a step says; returns whether there is more. */
  const note = ({ outputs, more }) => {
    for (const { tag, val } of outputs) {
      played.lines++;
      if (tag === "to-client") played.last = val;
      else if (answered) asked.push(val);
    }
    return more;
  };
  let untilIdle = idle;
  const start = performance.now();
  for (let round = 0; round < times; round++) {
    for (let given of arrivals) {
      do {
        let step = engine.receive(given, room);
        // To wait for what is there would take a good part of the time that a line takes.
        while (note(step instanceof Promise ? await step : step)) step = engine.pull(room);
        given = asked.length > 0 && answerTo(asked.shift());
      } while (given);
      if (--untilIdle === 0) {
        await engine.idle();
        untilIdle = idle;
      }
    }
  }
  return { ms: performance.now() - start, ...played };
}

const arrival = (peer, val) => [{ peer, content: { tag: "line", val } }];

/** An agent that does whatever it is asked. */
function answerTo(line) {
  const { id } = JSON.parse(line);
  return arrival("agent", JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
}
