/** What docs/histories.md is made of besides the histories themselves. */
export const INTRODUCTION = `<!-- Written by test/aws/histories.test.ts: \`npx vitest run --project aws test/aws/histories.test.ts -u\` -->

# Reading histories

What somebody sees who has Step Functions and nothing of Sluice: the console's list of events of an execution, or \`aws stepfunctions get-execution-history --include-execution-data --execution-arn ARN\`. A run is the execution of its own id: in machine \`sluice-STAGE-NAME\` if its document was deployed, in \`sluice-STAGE-x-HASH\` if it came with the start, in \`sluice-STAGE-research\` if it is a question. A run that was cut into parts has \`RUN-1\`, \`RUN-2\` beside it; each part's input names the execution it belongs to, by which the console links the two.

- A state has its block's id. Names with \`_\` are the machine's own: \`_retry_B\` waits before the next try, \`_approve_B\` and \`_ask_B\` wait for a person, \`_wait_B\` for other blocks, \`_items_B\` and \`_close_B\` begin and end lists and child runs, \`_settle\` and \`_end\` decide how the run ends.
- The function a task calls is its log group: \`sluice-STAGE-run-block\` logs to \`/aws/lambda/sluice-STAGE-run-block\`.
- A block's output here is a report, never what it answered: state, attempt, verdicts by number, names of the gates that failed, and \`last_seq\`, the last event the run had then (\`sluice run events RUN\`).
- A red task is not always a fault: \`RetryBlock\` and \`AskPerson\` are how a function asks the machine to wait. A block that fails is green and says \`"state":"failed"\`: it is \`_settle\` that decides what that means for the run.
- Histories hold no values, but they hold task tokens. Who may read them can answer for a person: give \`states:GetExecutionHistory\` to operators alone ([security.md](security.md)).

The runs below were made by the functions as they are deployed, on the emulated place; ids, tokens and ARNs are replaced, times left out, and a test holds the page to them.
`

export const HISTORIES: readonly { readonly title: string; readonly dag: string; readonly reading: string }[] = [
  {
    title: 'A run that failed',
    dag: `name: refused
blocks:
  - id: greet
    outputs: { text: string }
    agent: { provider: local, model: template, prompt: greet, model_params: { template: Good morning. } }
  - id: promise
    inputs: { text: { from: greet.text } }
    outputs: { text: string }
    agent: { provider: local, model: template, prompt: promise, model_params: { template: "{{inputs.text}} See you." } }
    post_gates:
      - { name: says-when, check: { type: contains, port: text, values: [tomorrow] }, on_fail: fail }
`,
    reading: `Read it from its end. **20**: the execution failed with Error \`RunFailed\`; its Cause is the run's code and id, so what to look up is [\`post_gate_failed\`](errors.md#post_gate_failed). **17**: \`_end\` took the way of \`"end":"failed"\`, which \`_settle\` said. **10**: block \`promise\` is the one, at its first attempt, by gate \`says-when\`; the call itself succeeded, so there is nothing in the functions' logs. Why the gate refused is event 9 of \`sluice run events\`, the one before \`last_seq\`.
`,
  },
  {
    title: 'A run that tried again',
    dag: `name: tried-again
inputs: { goal: { type: string, default: Add a --json flag to the list command and write tests for it } }
blocks:
  - id: plan
    outputs: { plan: string }
    agent: { provider: local, model: outline, prompt: "Plan this change in small steps: {{inputs.goal}}" }
    post_gates:
      - { name: long-enough, check: { type: min_length, port: plan, min: 300 } }
    retry: { max_attempts: 3, backoff: linear, delay_ms: 2000, jitter: none }
`,
    reading: `**5**: a gate refused the first answer; run-block recorded that and asked for the next try in 2 seconds (\`s\`). The state's Retry leaves this error alone. **6**: its Catch leads to \`_retry_plan\`, a Wait of so many seconds, and back to the block (**9**). **12**: \`"attempt":2\` completed. A try that failed thus costs two states more and no call of anything but the block. How often there is a next one is the document's \`retry\`, not the machine's. Errors that AWS itself gives (\`Lambda.TooManyRequestsException\`, \`Lambda.Unknown\`) are tried again within the same state: TaskFailed, then TaskScheduled, and the attempt stays the same. \`sluice run retry\` is something else: it makes a run with a history of its own.
`,
  },
  {
    title: 'A run somebody approved',
    dag: `name: approved
blocks:
  - id: greet
    outputs: { text: string }
    agent: { provider: local, model: template, prompt: greet, model_params: { template: Good morning. } }
  - id: send
    mode: deterministic
    inputs: { body: { from: greet.text } }
    outputs: { letter: artifact }
    deterministic: { handler: write-artifact, config: { name: letter.md } }
    approval: { prompt: Send this letter?, show: [body], timeout_sec: 86400, on_timeout: reject }
`,
    reading: `**8**: \`_approve_send\` hands request-approval a task token. **10**: the function has stored the question and returned; from here the execution waits and costs nothing, for as long as the state's TimeoutSeconds say (the question's and five minutes). A run that waits for a person ends its history here. **11**: somebody decided, and send-outbox answered the token with nothing in it: who, what and why are in the run (\`sluice run events\`), since who holds a token could otherwise write a decision. **14**: run-block reads the decision where it was recorded. A rejection looks the same up to here; then the block's report says \`"state":"failed"\`. If nobody answers, **11** is TaskTimedOut or, sooner, the sweep's answer, and the state goes on by its Catch in the same direction.
`,
  },
]
