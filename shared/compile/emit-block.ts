import { opensChild } from '../dag/opens-child.ts'
import type { State } from './asl.ts'
import type { CompiledBlock } from './compiled-block.ts'
import { EPOCH, epochIn } from './epoch.ts'
import { awaitToken, awaitUntimed, callFunction } from './function-task.ts'

/** Where a state leads: onward to another one or out of its branch. */
export type Onward = { readonly Next: string } | { readonly End: true }

/** What a step is emitted with besides itself. */
export interface Emission {
  /** Joins to signal, by block id or exit of a module. */
  readonly signals: ReadonlyMap<string, readonly string[]>
  /** Inside a bounce module: every state takes the epoch from its input and hands it on. */
  readonly epoch: boolean
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
  const states = block.foreach !== undefined ? emitForeach : opensChild(block.mode) ? emitChild : emitSingle
  return {
    ...emitApproval(block, emission),
    ...states(block, emission, onward),
    ...emitAsk(block, emission),
    [`_retry_${block.id}`]: {
      Type: 'Wait',
      Seconds: emission.epoch ? '{% $states.input.s %}' : WAIT_SECONDS,
      Next: entryOfBlock(block),
    },
  }
}

/** The state after the approval. */
function workOf({ id, foreach }: CompiledBlock): string {
  return foreach === undefined ? id : `_items_${id}`
}

function emitApproval(block: CompiledBlock, { epoch }: Emission): States {
  const { id, approval } = block
  if (approval === undefined) return {}
  const Next = workOf(block)
  const Output = epoch ? { Output: { e: EPOCH } } : {}
  return {
    [`_approve_${id}`]: {
      ...awaitToken('request-approval', { block: id, ...epochIn(epoch) }),
      TimeoutSeconds: approval.timeout_sec + APPROVAL_GRACE_SEC,
      Catch: [{ ErrorEquals: ['States.Timeout'], Next, ...Output }],
      ...Output,
      Next,
    },
  }
}

/** `_ask_<id>`, where the function raises AskPerson: waits for the answer, then back to where the block begins its work. */
function emitAsk(block: CompiledBlock, { epoch }: Emission): States {
  const { id, asks } = block
  if (asks === undefined) return {}
  const Output = epoch ? { Output: { e: EPOCH } } : {}
  return { [`_ask_${id}`]: { ...awaitAnswer({ block: id, ...epochIn(epoch) }), ...Output, Next: workOf(block) } }
}

function awaitAnswer(payload: Readonly<Record<string, unknown>>) {
  return awaitUntimed('request-approval', { ...payload, ask: true })
}

/** One state and `_retry_<id>`, a wait the function asks for by raising RetryBlock. */
function emitSingle(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id } = block
  const payload = { block: id, ...joinsOf(signals.get(id)), ...epochIn(epoch) }
  return { [id]: { ...runBlock(block, payload, epoch), Output: PAYLOAD, ...onward } }
}

/** The list, a Map of one run-block an item, and the close that publishes what the items made. */
function emitForeach(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id, foreach } = block
  return {
    [`_items_${id}`]: {
      ...runBlock(block, { block: id, phase: 'items', ...epochIn(epoch) }, epoch),
      Output: epoch ? { items: PAYLOAD, e: EPOCH } : PAYLOAD,
      Next: `_map_${id}`,
    },
    [`_map_${id}`]: {
      Type: 'Map',
      Items: epoch ? '{% $states.input.items %}' : '{% $states.input %}',
      ItemSelector: { i: '{% $states.context.Map.Item.Value %}', ...epochIn(epoch) },
      MaxConcurrency: Math.min(foreach?.max_concurrency ?? 1, MOST_ITEMS_AT_ONCE),
      ItemProcessor: { StartAt: id, States: emitItem(block, epoch) },
      Output: epoch ? { e: EPOCH } : {},
      Next: `_close_${id}`,
    },
    ...emitClose(block, { signals, epoch }, onward),
  }
}

/** One item: it is tried again and asks by states of its own, since names are those of the whole machine. */
function emitItem(block: CompiledBlock, epoch: boolean): States {
  const { id, asks } = block
  const [again, ask] = [`_again_${id}`, `_item_ask_${id}`]
  const item = { i: '{% $states.input.i %}', ...epochIn(epoch) }
  const payload = { block: id, item: item.i, ...epochIn(epoch) }
  const Catch = [{ ErrorEquals: ['RetryBlock'], Next: again, Output: { ...item, s: RETRY_SECONDS } }]
  const asking = { ErrorEquals: ['AskPerson'], Next: ask, Output: item }
  const catchers = asks?.items === true ? [...Catch, asking] : Catch
  return {
    // An empty output: what 1,000 items answer never adds up to a payload limit.
    [id]: { ...runBlock(block, payload, epoch), Catch: catchers, Output: {}, End: true },
    [again]: { Type: 'Wait', Seconds: '{% $states.input.s %}', Next: id },
    ...(asks?.items === true ? { [ask]: { ...awaitAnswer(payload), Output: item, Next: id } } : {}),
  }
}

/** A state that waits for the child run, and one that takes over its outputs; only that one raises RetryBlock. */
function emitChild(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id } = block
  return {
    [id]: {
      ...awaitToken('open-child', { block: id, ...epochIn(epoch) }),
      ...(epoch ? { Output: { e: EPOCH } } : {}),
      Next: `_close_${id}`,
    },
    ...emitClose(block, { signals, epoch }, onward),
  }
}

function emitClose(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const { id } = block
  const payload = { block: id, phase: 'close', ...joinsOf(signals.get(id)), ...epochIn(epoch) }
  return { [`_close_${id}`]: { ...runBlock(block, payload, epoch), Output: PAYLOAD, ...onward } }
}

function runBlock({ id, asks }: CompiledBlock, payload: Readonly<Record<string, unknown>>, epoch: boolean) {
  const Output = epoch ? { Output: SIGNAL } : {}
  const again = { ErrorEquals: ['RetryBlock'], Next: `_retry_${id}`, ...Output }
  const asking = { ErrorEquals: ['AskPerson'], Next: `_ask_${id}`, ...Output }
  const Catch = asks === undefined ? [again] : [again, asking]
  return { ...callFunction('run-block', payload), Catch, TimeoutSeconds: BLOCK_TIMEOUT_SEC }
}

/** Left out where there is none: most blocks signal nothing. */
function joinsOf(joins: readonly string[] = []) {
  return joins.length === 0 ? {} : { joins }
}
