/** Memory of the functions, MB: infra/aws/function-size.ts, and a test holds them equal. */
export const FUNCTION_MB: Readonly<Record<string, number>> = {
  'run-block': 1_024,
  'decide-completion': 1_024,
  'wait-join': 256,
  'request-approval': 512,
  'open-child': 1_024,
  'close-module': 256,
  settle: 256,
  'nl-classify': 1_769,
  'route-search': 512,
  'execute-subqueries': 1_769,
  'assess-sufficiency': 512,
  'synthesize-answer': 512,
  'start-run': 1_024,
  'send-outbox': 256,
}

/** Traced on the functions as they are deployed (test/aws/costs.test.ts), but for the seconds: see docs/plan.md. */
export const QUANTITIES = {
  /** Assumed. A call besides the work of its block: reading, judging, appending. */
  seconds_a_call: 0.3,
  /** Calls a run makes beside its machine: the start, and the outbox at its end. */
  calls_a_run: { 'start-run': 1, 'send-outbox': 1 },
  /** A person's decision, and the outbox that answers the machine. */
  calls_an_approval: { 'decide-approval': 1, 'send-outbox': 1 },
  /** Stored events: run:started and the run's end; ready, started, output, completed of a block; one of each gate. */
  events_a_run: 2,
  events_a_block: 4,
  /** requested and decided. */
  events_an_approval: 2,
  /** Write units an event at a small HEAD with what lies beside it, and what each block of HEAD adds to it. */
  units_an_event: 2.6,
  units_an_event_and_block: 0.0047,
  /** META, HEAD, place, rate, index entries and the end of a run. */
  units_a_run: 13,
  /** The question with what was shown, who answered it, and the writes that found it answered already. */
  units_an_approval: 9,
  read_units_a_call: 4.5,
  /** The document; a prompt and an output of each block; a question and what it shows; the verdict on a goal. */
  puts_a_run: 1,
  puts_a_block: 2,
  puts_an_approval: 2,
  /** A function that is warm has the document; a block reads its inputs, and gates what they judge. */
  gets_a_run: 1,
  gets_a_block: 4,
  log_bytes_a_call: 2_400,
} as const

/** A run of the research chain that finds its answer at once: what it needs beside the block that asks. */
export const RESEARCH_RUN = {
  transitions: 13,
  calls: {
    'start-run': 1,
    'nl-classify': 1,
    'route-search': 1,
    'execute-subqueries': 1,
    'assess-sufficiency': 1,
    'synthesize-answer': 1,
    settle: 1,
    'send-outbox': 2,
  },
  write_units: 48,
  /** Above those of its calls: what the graph is read for. */
  read_units: 180,
  puts: 11,
  gets: 10,
} as const
