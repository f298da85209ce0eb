import { FUNCTIONS } from '../catalog.ts'
import type { Acting, Block, Foreach, RetryPolicy, Wait } from '../dag/dag.ts'
import { isStepPath } from '../dag/handlers.ts'
import { isNativeHandler, resourceOfCall } from '../dag/native-call.ts'
import { Fault } from '../errors.ts'
import type { Retrier, State, TaskState } from './asl.ts'

/** Where a state leads: onward to another one or out of its branch. */
export type Onward = { readonly Next: string } | { readonly End: true }

/** What a step is emitted with besides itself. */
export interface Emission {
  /** Joins to signal, by block id or exit of a module. */
  readonly signals: ReadonlyMap<string, readonly string[]>
  /** Inside a bounce module: every state takes the epoch from its input and hands it on. */
  readonly epoch: boolean
  /** `_hold_<this>`, where blocks of the same branch wait while their run is paused; absent: each in a state of its own. */
  readonly hold?: string
}

export type States = Record<string, State>

/** The function's own time-out is 900 s: it is seen as such, this one is for a call that never comes back. */
const BLOCK_TIMEOUT_SEC = 930
/** The store expires the approval itself; the machine's own time-out only catches what sweep missed. */
const APPROVAL_GRACE_SEC = 300
/** An inline Map runs no more at once. Source: Step Functions quotas. */
const MOST_ITEMS_AT_ONCE = 40

/** The message of RetryBlock and AskPerson, `{"s": seconds}` with `e` inside a module: Lambda wraps the error in JSON, the message is JSON itself. */
const SIGNAL = '{% $parse($parse($states.errorOutput.Cause).errorMessage) %}'
const RETRY_SECONDS = '{% $parse($parse($states.errorOutput.Cause).errorMessage).s %}'
/** Where no epoch has to be handed on, the wait is given the error as it is (a catcher's own output) and reads it. */
const WAIT_SECONDS = '{% $parse($parse($states.input.Cause).errorMessage).s %}'
const PAYLOAD = '{% $states.result.Payload %}'

/** The first state of a block: it asks before it runs. */
export function entryOfBlock(block: CompiledBlock): string {
  return block.approval === undefined ? workOf(block) : `_approve_${block.id}`
}

/** The states of one block, as its kind asks for (docs/architecture.md, "From document to machine"). */
export function emitBlock(block: CompiledBlock, emission: Emission, onward: Onward): States {
  const own = isStep(block)
    ? emitStep
    : isNativeHandler(block.handler)
      ? emitCall
      : (WORKS[block.mode ?? 'ai'] ?? emitSingle)
  const states = block.foreach !== undefined ? emitForeach : actingOf(block) !== undefined ? emitAgent : own
  return {
    ...emitApproval(block, emission),
    ...states(block, emission, onward),
    ...(emission.hold === undefined ? emitAsk(block, emission) : {}),
    [`_retry_${block.id}`]: {
      Type: 'Wait',
      Seconds: emission.epoch ? '{% $states.input.s %}' : WAIT_SECONDS,
      Next: entryOfBlock(block),
    },
  }
}

/** Whether its work is code of the project, done in a process or function of its own. */
export function isStep({ handler }: Pick<CompiledBlock, 'handler'>): boolean {
  return handler !== undefined && isStepPath(handler)
}

/** The state after the approval. */
function workOf(block: CompiledBlock): string {
  const { id, foreach, wait } = block
  if (foreach !== undefined || actingOf(block) !== undefined) return `_items_${id}`
  return wait?.kind === 'until' ? `_until_${id}` : id
}

function emitApproval(block: CompiledBlock, { epoch }: Emission): States {
  const { id, approval } = block
  if (approval === undefined) return {}
  const Next = workOf(block)
  const Output = epoch ? { Output: { e: EPOCH } } : {}
  return {
    [`_approve_${id}`]: {
      ...awaitToken('request-approval', { block: id, ...epochField(epoch) }),
      TimeoutSeconds: approval.timeout_sec + APPROVAL_GRACE_SEC,
      Catch: [{ ErrorEquals: ['States.Timeout'], Next, ...Output }],
      ...Output,
      Next,
    },
  }
}

/**
 * `_ask_<id>`, where the function raises AskPerson: waits for a person's answer, or for the end of a pause (docs/adr/0104),
 * then back to where the block begins its work.
 */
function emitAsk(block: CompiledBlock, { epoch }: Emission): States {
  const { id, asks } = block
  const Output = epoch ? { Output: { e: EPOCH } } : {}
  const waits = asks === undefined ? awaitResume() : awaitAnswer({ block: id, ...epochField(epoch) })
  return { [`_ask_${id}`]: { ...waits, ...Output, Next: workOf(block) } }
}

function awaitAnswer(payload: Readonly<Record<string, unknown>>) {
  return waitWithoutTimeout('request-approval', { ...payload, ask: true })
}

/** Whatever goes wrong is tried again for hours: a pause may be that long. */
function awaitResume() {
  const { BackoffRate: _, ...patient } = THROTTLED
  return { ...awaitToken('request-approval', {}), Retry: [{ ...patient, ErrorEquals: ['States.ALL'] }] }
}

/**
 * Where blocks of one branch wait that ask nobody, while their run is paused: one state waits, and a Choice leads each back
 * to where it was. Only then are they come by.
 */
export function emitHold(hold: string, blocks: readonly string[]): States {
  const back = (id: string) => ({ Condition: `{% $states.input='${id}' %}`, Next: id })
  const choices = blocks.slice(1).map(back)
  return {
    [`_hold_${hold}`]: { ...awaitResume(), Output: HELD_BLOCK, Next: `_held_${hold}` },
    [`_held_${hold}`]: { Type: 'Choice', Choices: choices, Default: blocks[0] ?? hold },
  }
}

const HELD_BLOCK = '{% $parse($parse($states.input.Cause).errorMessage).b %}'

/** One state and `_retry_<id>`, a wait the function asks for by raising RetryBlock. */
function emitSingle(block: CompiledBlock, { signals, epoch, hold }: Emission, onward: Onward): States {
  const { id } = block
  const payload = { block: id, ...joinsOf(signals.get(id)), ...epochField(epoch) }
  const asked = hold === undefined ? { epoch } : { epoch, hold }
  return { [id]: { ...runBlock(block, payload, asked), Output: PAYLOAD, ...onward } }
}

/** The list, a Map of one run-block an item, and the close that publishes what the items made. */
function emitForeach(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id, foreach } = block
  return {
    [`_items_${id}`]: {
      ...runBlock(block, { block: id, phase: 'items', ...epochField(epoch) }, { epoch }),
      Output: epoch ? { items: PAYLOAD, e: EPOCH } : PAYLOAD,
      Next: `_map_${id}`,
    },
    [`_map_${id}`]: {
      Type: 'Map',
      Items: epoch ? '{% $states.input.items %}' : '{% $states.input %}',
      ItemSelector: { i: '{% $states.context.Map.Item.Value %}', ...epochField(epoch) },
      MaxConcurrency: Math.min(foreach?.max_concurrency ?? 1, MOST_ITEMS_AT_ONCE),
      ItemProcessor: { StartAt: id, States: itemStates(block)(block, epoch) },
      Output: epoch ? { e: EPOCH } : {},
      Next: `_close_${id}`,
    },
    ...emitClose(block, { signals, epoch }, onward),
  }
}

/** Of an agent that calls tools. */
export function actingOf({ agent }: Pick<CompiledBlock, 'agent'>): CompiledActing | undefined {
  return agent?.acting
}

/**
 * Rounds: what comes next, a Map over it (a turn, or the calls it asked for), and back, until nothing comes next; then the
 * close that makes outputs of its last words (docs/adr/0075).
 */
function emitAgent(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id } = block
  return {
    [`_items_${id}`]: {
      ...runBlock(block, { block: id, phase: 'items', ...epochField(epoch) }, { epoch }),
      Output: { items: PAYLOAD, ...epochField(epoch) },
      Next: `_more_${id}`,
    },
    [`_more_${id}`]: {
      Type: 'Choice',
      Choices: [{ Condition: '{% $count($states.input.items) > 0 %}', Next: `_map_${id}` }],
      Default: `_close_${id}`,
    },
    [`_map_${id}`]: {
      Type: 'Map',
      Items: '{% $states.input.items %}',
      ItemSelector: {
        i: '{% $states.context.Map.Item.Value.i %}',
        k: '{% $states.context.Map.Item.Value.k %}',
        ...epochField(epoch),
      },
      MaxConcurrency: Math.min(actingOf(block)?.max_parallel ?? 1, MOST_ITEMS_AT_ONCE),
      ItemProcessor: { StartAt: `_kind_${id}`, States: agentItemStates(block, epoch) },
      Output: epoch ? { e: EPOCH } : {},
      Next: `_items_${id}`,
    },
    ...emitClose(block, { signals, epoch }, onward),
  }
}

/**
 * One turn or call: a function makes it at once, or hands it to a step or a child run and waits for its token. What is left
 * to do then, another try or a question, begins at `_kind_<id>` again.
 */
function agentItemStates(block: CompiledBlock, epoch: boolean): States {
  const { id } = block
  const kind = `_kind_${id}`
  const close = `_close_item_${id}`
  const tools = actingOf(block)?.tools ?? []
  const item = { i: '{% $states.input.i %}', k: '{% $states.input.k %}', ...epochField(epoch) }
  const payload = { block: id, item: item.i, ...epochField(epoch) }
  const ended = {
    Catch: [
      { ErrorEquals: ['RetryBlock'], Next: `_again_${id}`, Output: { ...item, s: RETRY_SECONDS } },
      { ErrorEquals: ['AskPerson'], Next: `_item_ask_${id}`, Output: item },
    ],
    Output: {},
    End: true,
  } as const
  const hasSteps = tools.some((tool) => tool.kind === 'step')
  const hasChildren = tools.some((tool) => tool.kind === 'dag')
  const goesTo = (k: string, Next: string) => ({ Condition: `{% $states.input.k = '${k}' %}`, Next })
  const choices = [
    ...(hasSteps ? [goesTo('step', `_step_${id}`)] : []),
    ...(hasChildren ? [goesTo('child', `_child_${id}`)] : []),
  ]
  const outcome = hasSteps ? { outcome: "{% $exists($states.input.outcome) ? $states.input.outcome : '' %}" } : {}
  return {
    [kind]: choices.length === 0 ? { Type: 'Pass', Next: id } : { Type: 'Choice', Choices: choices, Default: id },
    [id]: { ...runBlock(block, payload, { epoch }), ...ended },
    ...(hasSteps ? { [`_step_${id}`]: { ...awaitStep(payload, item, close), Next: close } } : {}),
    ...(hasChildren ? { [`_child_${id}`]: { ...awaitToken('open-child', payload), Output: item, Next: close } } : {}),
    ...(choices.length === 0
      ? {}
      : {
          [close]: {
            ...runBlock(block, { ...payload, phase: 'close', ...outcome }, { epoch }),
            ...ended,
          },
        }),
    [`_again_${id}`]: { Type: 'Wait', Seconds: '{% $states.input.s %}', Next: kind },
    [`_item_ask_${id}`]: { ...awaitAnswer(payload), Output: item, Next: kind },
  }
}

function itemStates(block: CompiledBlock) {
  if (isStep(block)) return emitStepItem
  return isNativeHandler(block.handler) ? emitCallItem : emitItem
}

/** An item of a step: one state waits for the work, one records what came of it. */
function emitStepItem(block: CompiledBlock, epoch: boolean): States {
  const { id } = block
  const close = `_close_item_${id}`
  const item = { i: '{% $states.input.i %}', ...epochField(epoch) }
  const payload = { block: id, item: item.i, ...epochField(epoch) }
  const { [id]: recording, ...waits } = emitItem(block, epoch, { phase: 'close', outcome: OUTCOME })
  return {
    [id]: { ...awaitStep(payload, item, close), Next: close },
    ...(recording === undefined ? {} : { [close]: recording }),
    ...waits,
  }
}

/** One item: it is tried again and asks by states of its own, since names are those of the whole machine. */
function emitItem(block: CompiledBlock, epoch: boolean, also: Readonly<Record<string, unknown>> = {}): States {
  const { id, asks, wait } = block
  const [again, ask] = [`_again_${id}`, `_item_ask_${id}`]
  const item = { i: '{% $states.input.i %}', ...epochField(epoch) }
  const payload = { block: id, item: item.i, ...epochField(epoch) }
  const catchers = [
    { ErrorEquals: ['RetryBlock'], Next: again, Output: { ...item, s: RETRY_SECONDS } },
    { ErrorEquals: ['AskPerson'], Next: ask, Output: item },
  ]
  // An empty output: what 1,000 items answer never adds up to a payload limit.
  const ended = { Catch: catchers, Output: {}, End: true } as const
  const work: States =
    wait === undefined
      ? { [id]: { ...runBlock(block, { ...payload, ...also }, { epoch }), ...ended } }
      : {
          [id]: { ...awaitWait(block, payload, `_item_close_${id}`, item), Output: item, Next: `_item_close_${id}` },
          [`_item_close_${id}`]: { ...runBlock(block, { ...payload, phase: 'close' }, { epoch }), ...ended },
        }
  return {
    ...work,
    [again]: { Type: 'Wait', Seconds: '{% $states.input.s %}', Next: id },
    [ask]: { ...(asks?.items === true ? awaitAnswer(payload) : awaitResume()), Output: item, Next: id },
  }
}

/** A state that waits for the child run, and one that takes over its outputs; only that one raises RetryBlock. */
function emitChild(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id } = block
  return {
    [id]: {
      ...awaitToken('open-child', { block: id, ...epochField(epoch) }),
      ...(epoch ? { Output: { e: EPOCH } } : {}),
      Next: `_close_${id}`,
    },
    ...emitClose(block, { signals, epoch }, onward),
  }
}

/**
 * A state that waits for the answer of whatever ends the wait, and one that records what came. Nothing runs in between:
 * the state's own time-out is the wait's, and where only the run knows the time, a state before it says how long it is.
 */
function emitWait(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id, wait } = block
  const payload = { block: id, ...epochField(epoch) }
  const close = `_close_${id}`
  const Output = epoch ? { Output: { e: EPOCH } } : {}
  const until: States =
    wait?.kind === 'until'
      ? { [`_until_${id}`]: { ...callFunction('open-wait', payload), Output: PAYLOAD, Next: id } }
      : {}
  return {
    ...until,
    [id]: { ...awaitWait(block, payload, close, epoch ? { e: EPOCH } : undefined), ...Output, Next: close },
    ...emitClose(block, { signals, epoch }, onward),
  }
}

/** A second on top: the wait begins a little after its state, and one that is not over yet would be begun again. */
const WAIT_GRACE_SEC = 2
const UNTIL_SECONDS = '{% $states.input.s %}'

function awaitWait(
  { wait, foreach }: CompiledBlock,
  payload: Readonly<Record<string, unknown>>,
  Next: string,
  Output: unknown,
) {
  const told = Output === undefined ? {} : { Output }
  const timed = {
    ...awaitToken('open-wait', payload),
    Catch: [{ ErrorEquals: ['States.Timeout'], Next, ...told }],
  }
  if (wait === undefined) return timed
  if (wait.kind !== 'until') {
    const sec = wait.kind === 'for' ? wait.sec : wait.timeout_sec
    return { ...timed, TimeoutSeconds: sec + WAIT_GRACE_SEC }
  }
  // An item has no state before it that could say it: the sweep ends its wait.
  return foreach === undefined ? { ...timed, TimeoutSeconds: UNTIL_SECONDS } : awaitToken('open-wait', payload)
}

/** Modes whose work is no single state. */
const WORKS: Readonly<Partial<Record<Block['mode'], typeof emitSingle>>> = {
  dag: emitChild,
  research: emitChild,
  wait: emitWait,
}

/** A state that waits for the work of a step, and one that records what came of it; only that one raises RetryBlock. */
function emitStep(block: CompiledBlock, emission: Emission, onward: Onward): States {
  const { id } = block
  const close = `_close_${id}`
  return {
    [id]: {
      ...awaitStep({ block: id, ...epochField(emission.epoch) }, epochField(emission.epoch), close),
      Next: close,
    },
    ...emitClose(block, emission, onward, { outcome: OUTCOME }),
  }
}

/** Where what a step made lies; empty: nobody says that there is anything. */
const OUTCOME = '{% $states.input.outcome %}'
const ANSWERED = "{% $states.result.outcome ? $states.result.outcome : '' %}"
/** Whoever does the work says in time that it goes on, and says it three times as often. */
const STEP_HEARTBEAT_SEC = 120

/** `handed`: what the next state finds beside the outcome. When nobody is heard of any more, the record says what is left to do. */
function awaitStep(
  payload: Readonly<Record<string, unknown>>,
  handed: Readonly<Record<string, unknown>>,
  Next: string,
) {
  return {
    ...awaitToken('open-step', payload),
    HeartbeatSeconds: STEP_HEARTBEAT_SEC,
    Catch: [{ ErrorEquals: ['States.Timeout', 'States.HeartbeatTimeout'], Next, Output: { ...handed, outcome: '' } }],
    Output: { ...handed, outcome: ANSWERED },
  }
}

/**
 * A state that claims and says what to call, the call itself, which nothing of ours waits for, and a state that records what
 * came of it (docs/adr/0074). Where there is nothing to call, the last one finds why.
 */
function emitCall(block: CompiledBlock, emission: Emission, onward: Onward): States {
  const { id } = block
  const handed = epochField(emission.epoch)
  return {
    [id]: {
      ...runBlock(block, { block: id, phase: 'open', ...handed }, { epoch: emission.epoch }),
      Output: { ...handed, open: PAYLOAD },
      Next: `_go_${id}`,
    },
    ...emitNative(block, handed, { go: `_go_${id}`, close: `_close_${id}` }),
    ...withLargeAnswers(`_close_${id}`, handed, emitClose(block, emission, onward, { done: DONE })),
  }
}

/**
 * What fits into the answer of a call may not fit into what records it, which says whose it is besides: then the same state
 * is told that it did not.
 */
function withLargeAnswers(close: string, handed: Readonly<Record<string, unknown>>, states: States): States {
  const recording = states[close]
  if (recording?.Type !== 'Task') return states
  const done = { order: '{% $states.input.done.order %}', error: TOO_LARGE, cause: '' }
  const caught = { ErrorEquals: [TOO_LARGE], Next: close, Output: { ...handed, done } }
  return { ...states, [close]: { ...recording, Catch: [...(recording.Catch ?? []), caught] } }
}

/** It is no error of States.ALL. */
const TOO_LARGE = 'States.DataLimitExceeded'

function emitCallItem(block: CompiledBlock, epoch: boolean): States {
  const { id } = block
  const [go, close] = [`_go_item_${id}`, `_close_item_${id}`]
  const handed = { i: '{% $states.input.i %}', ...epochField(epoch) }
  const { [id]: opening } = emitItem(block, epoch, { phase: 'open' })
  const { [id]: recording, ...waits } = emitItem(block, epoch, { phase: 'close', done: DONE })
  if (opening === undefined || recording === undefined || !('End' in opening)) return waits
  const { End: _, ...begun } = opening
  return {
    [id]: { ...begun, Output: { ...handed, open: PAYLOAD }, Next: go },
    ...emitNative(block, handed, { go, close }),
    ...withLargeAnswers(close, handed, { [close]: recording }),
    ...waits,
  }
}

/** What a call came to, as its state told it; empty: there was none. */
const DONE = '{% $exists($states.input.done) ? $states.input.done : {} %}'
const ORDER = '{% $states.input.open.order %}'

/** A Choice whether there is something to call, and the state that calls it, named after its block: a box of its own in the console. */
function emitNative(
  block: CompiledBlock,
  handed: Readonly<Record<string, unknown>>,
  { go, close }: { readonly go: string; readonly close: string },
): States {
  const { id, handler, config = {} } = block
  if (!isNativeHandler(handler)) return {}
  const failed = {
    order: ORDER,
    error: '{% $states.errorOutput.Error %}',
    cause: "{% $states.errorOutput.Cause ? $states.errorOutput.Cause : '' %}",
  }
  const caught = (error: string) => ({ ErrorEquals: [error], Next: close, Output: { ...handed, done: failed } })
  const result = handler === 'lambda' ? '$states.result.Payload' : '$states.result'
  return {
    [go]: {
      Type: 'Choice',
      Choices: [{ Condition: '{% $exists($states.input.open.call) %}', Next: `_call_${id}` }],
      Default: close,
    },
    [`_call_${id}`]: {
      Type: 'Task',
      Resource: resourceOfCall(handler, config),
      Arguments: '{% $states.input.open.call %}',
      TimeoutSeconds: '{% $states.input.open.timeout_sec %}',
      Retry: [NOT_TAKEN],
      Catch: [caught(TOO_LARGE), caught('States.ALL')],
      Output: { ...handed, done: { order: ORDER, result: `{% $exists(${result}) ? ${result} : null %}` } },
      Next: close,
    },
  }
}

/** What a service says before it begins: nothing was done. Everything else is the block's own retry. */
const NOT_TAKEN: Retrier = {
  ErrorEquals: [
    'Lambda.TooManyRequestsException',
    'ECS.ThrottlingException',
    'ECS.LimitExceededException',
    'Batch.TooManyRequestsException',
    'Glue.ConcurrentRunsExceededException',
    'Glue.ThrottlingException',
    'Sqs.ThrottlingException',
    'SQS.ThrottlingException',
    'Sns.ThrottledException',
    'SNS.ThrottledException',
    'DynamoDB.ThrottlingException',
    'DynamoDB.ProvisionedThroughputExceededException',
    'DynamoDb.ThrottlingException',
    'DynamoDb.ProvisionedThroughputExceededException',
    'Bedrock.ThrottlingException',
    'EventBridge.ThrottlingException',
    'S3.SlowDownException',
    'StepFunctions.ExecutionLimitExceededException',
    'StepFunctions.ThrottlingException',
  ],
  IntervalSeconds: 2,
  BackoffRate: 2,
  MaxDelaySeconds: 60,
  MaxAttempts: 10,
  JitterStrategy: 'FULL',
}

function emitClose(
  block: CompiledBlock,
  { signals, epoch }: Emission,
  onward: Onward,
  also: Readonly<Record<string, unknown>> = {},
): States {
  const { id } = block
  const payload = { block: id, phase: 'close', ...joinsOf(signals.get(id)), ...epochField(epoch), ...also }
  return { [`_close_${id}`]: { ...runBlock(block, payload, { epoch }), Output: PAYLOAD, ...onward } }
}

/** `holds`: its state waits where the function raises AskPerson, which machines of before pauses do for some blocks only. */
function runBlock(
  { id }: CompiledBlock,
  payload: Readonly<Record<string, unknown>>,
  { epoch, hold }: Pick<Emission, 'epoch' | 'hold'>,
) {
  const Output = epoch ? { Output: SIGNAL } : {}
  const again = { ErrorEquals: ['RetryBlock'], Next: `_retry_${id}`, ...Output }
  const asking = { ErrorEquals: ['AskPerson'], Next: hold === undefined ? `_ask_${id}` : `_hold_${hold}`, ...Output }
  const task = callFunction('run-block', { ...payload, holds: true })
  return { ...task, Catch: [again, asking], TimeoutSeconds: BLOCK_TIMEOUT_SEC }
}

/** Left out where there is none: most blocks signal nothing. */
function joinsOf(joins: readonly string[] = []) {
  return joins.length === 0 ? {} : { joins }
}

/** What the compiler looks at of a block: ids, numbers and what decides about its states. */
export type CompiledBlock = Pick<Block, 'id' | 'upstream' | 'on_gate_fail'> & {
  /** How often a person may be asked in one attempt, and whether an item of a list may ask; absent = never. */
  readonly asks?: { readonly block: number; readonly items: boolean }

  readonly mode?: Block['mode']
  /** Of an ai block. */
  readonly agent?: { readonly acting?: CompiledActing }
  /** Of a deterministic block. */
  readonly handler?: string
  readonly config?: Readonly<Record<string, unknown>>
  readonly approval?: { readonly timeout_sec: number }
  readonly foreach?: Pick<Foreach, 'items' | 'max_concurrency'>
  readonly wait?: Wait
  readonly retry?: Pick<RetryPolicy, 'max_attempts'>
}

/** What of an agent's tools decides about its states. */
type CompiledActing = Pick<Acting, 'max_parallel' | 'max_turns'> & {
  readonly tools: readonly Pick<Acting['tools'][number], 'kind'>[]
}

/** The epoch a state of a bounce module was entered with; the first pass comes from outside and has none. */
export const EPOCH = '{% $states.input.e ? $states.input.e : 0 %}'

/** The member `e` of payloads, inputs and outputs inside a bounce module. */
export function epochField(epoch: boolean): { readonly e?: string } {
  return epoch ? { e: EPOCH } : {}
}

/** The parts every Task of ours is made of. What is retried: docs/adr/0027. */
export const THROTTLED: Retrier = {
  ErrorEquals: ['Lambda.TooManyRequestsException'],
  IntervalSeconds: 2,
  BackoffRate: 2,
  // Four hours in the mean. Each try is three events of a history that has 25,000: later ones are rare.
  MaxDelaySeconds: 600,
  MaxAttempts: 55,
  JitterStrategy: 'FULL',
}
/** What a function means to say: never retried by the machine itself, whatever else is (docs/adr/0027). */
const OUR_ANSWERS: Retrier = {
  ErrorEquals: ['RetryBlock', 'AskPerson', 'InvalidInput', 'NotFound', 'Bug'],
  MaxAttempts: 0,
}
/** A wait for a token is retried for these only: it has no time-out of its own but an approval's, which is an answer. */
const INFRASTRUCTURE = [
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
  'Runtime.ExitError',
]

type FunctionTask = Pick<TaskState, 'Type' | 'Resource' | 'Arguments' | 'Retry'>

/**
 * A Task that invokes one of our functions and goes on with its answer. Payloads carry ids only; `in` is the
 * execution input, taken from the context object, so what a state is given as input never matters. `patience` changes the
 * last Retrier.
 */
export function callFunction(
  name: string,
  payload: Readonly<Record<string, unknown>> = {},
  patience: Partial<Retrier> = {},
): FunctionTask {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Arguments: argumentsFor(name, payload),
    Retry: [OUR_ANSWERS, THROTTLED, { ...retryOf(['States.ALL']), ...patience }],
  }
}

/**
 * A join, which its last source answers, or a question in the middle of an attempt, which the store expires. It has no
 * time-out of its own, so that whatever goes wrong is a fault of the call, which is safe to repeat.
 */
export function waitWithoutTimeout(name: string, payload: Readonly<Record<string, unknown>>): FunctionTask {
  return { ...awaitToken(name, payload), Retry: [THROTTLED, retryOf(['States.ALL'])] }
}

/**
 * A Task that invokes one of our functions and then waits until somebody answers its task token. A time-out here means
 * that nobody did: it is not retried.
 */
function awaitToken(name: string, payload: Readonly<Record<string, unknown>>): FunctionTask {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
    Arguments: argumentsFor(name, { ...payload, token: '{% $states.context.Task.Token %}' }),
    Retry: [THROTTLED, retryOf([...INFRASTRUCTURE, 'Unavailable'])],
  }
}

function argumentsFor(name: string, payload: Readonly<Record<string, unknown>>) {
  return { FunctionName: placeholderOf(name), Payload: { in: '{% $states.context.Execution.Input %}', ...payload } }
}

function placeholderOf(name: string): string {
  const placeholder = FUNCTIONS.find((line) => line.name === name)?.placeholder
  if (placeholder === undefined) {
    throw new Fault('Bug', 'unknown_function', `Cannot call "${name}": the catalog has no placeholder for it.`)
  }
  return `\${${placeholder}}`
}

function retryOf(errors: readonly string[]): Retrier {
  return { ErrorEquals: errors, IntervalSeconds: 2, MaxAttempts: 5, JitterStrategy: 'FULL' }
}

/** Some eight minutes: an execution that failed after `_settle` gave its run a verdict would contradict it for good. */
const TO_THE_END = { MaxAttempts: 20, MaxDelaySeconds: 60 } as const

/**
 * How every machine of ours ends: `_settle` gives the run its verdict, the Choice after it the execution its status. A
 * run that is judged by more than its blocks is evaluated in between, once: a run without that never comes there. While the
 * run is paused the verdict waits.
 */
export const ENDING: States = {
  _settle: {
    ...callFunction('settle', { holds: true }, TO_THE_END),
    Catch: [{ ErrorEquals: ['AskPerson'], Next: '_hold', Output: {} }],
    Output: '{% $states.result.Payload %}',
    Next: '_end',
  },
  _hold: { ...awaitResume(), Output: {}, Next: '_settle' },
  _end: {
    Type: 'Choice',
    Choices: [
      { Condition: "{% $states.input.end in ['completed', 'partial', 'blocked', 'iterated'] %}", Next: '_done' },
      { Condition: "{% $states.input.end = 'decide' %}", Next: '_decide_completion' },
    ],
    Default: '_failed',
  },
  _decide_completion: { ...callFunction('decide-completion', {}, TO_THE_END), Output: {}, Next: '_settle' },
  _done: { Type: 'Succeed' },
  _failed: {
    Type: 'Fail',
    Error: 'RunFailed',
    // A run that was cancelled has an end but no code.
    Cause: "{% $states.input.(code ? code : end) & ' ' & $states.context.Execution.Input.run_id %}",
  },
}
