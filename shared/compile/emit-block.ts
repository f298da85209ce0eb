import type { State } from './asl.ts'
import type { CompiledBlock } from './compiled-block.ts'
import { EPOCH, epochIn } from './epoch.ts'
import { awaitToken, callFunction } from './function-task.ts'

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

/** RetryBlock's message, `{"s": seconds}` with `e` inside a module: Lambda wraps the error in JSON, the message is JSON itself. */
const RETRY_SIGNAL = '{% $parse($parse($states.errorOutput.Cause).errorMessage) %}'
const RETRY_SECONDS = '{% $parse($parse($states.errorOutput.Cause).errorMessage).s %}'
/** Where no epoch has to be handed on, the wait is given the error as it is (a catcher's own output) and reads it. */
const WAIT_SECONDS = '{% $parse($parse($states.input.Cause).errorMessage).s %}'
const PAYLOAD = '{% $states.result.Payload %}'

/** The first state of a block: it asks before it runs. */
export function entryOfBlock(block: CompiledBlock): string {
  return block.approval === undefined ? workOf(block) : `_approve_${block.id}`
}

/** The states of one block, as its kind asks for (design decisions: "Block state, exactly", "foreach", "Children"). */
export function emitBlock(block: CompiledBlock, emission: Emission, onward: Onward): States {
  const states = block.foreach !== undefined ? emitForeach : block.mode === 'dag' ? emitChild : emitSingle
  return {
    ...emitApproval(block, emission),
    ...states(block, emission, onward),
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

/** One state and `_retry_<id>`, a wait the function asks for by raising RetryBlock. */
function emitSingle({ id }: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const payload = { block: id, ...joinsOf(signals.get(id)), ...epochIn(epoch) }
  return { [id]: { ...runBlock(id, payload, epoch), Output: PAYLOAD, ...onward } }
}

/** The list, a Map of one run-block an item, and the close that publishes what the items made. */
function emitForeach({ id, foreach }: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  const again = `_again_${id}`
  const item = { i: '{% $states.input.i %}', ...epochIn(epoch) }
  const Catch = [{ ErrorEquals: ['RetryBlock'], Next: again, Output: { ...item, s: RETRY_SECONDS } }]
  const itemStates: States = {
    // An empty output: what 1,000 items answer never adds up to a payload limit.
    [id]: { ...runBlock(id, { block: id, item: item.i, ...epochIn(epoch) }, epoch), Catch, Output: {}, End: true },
    [again]: { Type: 'Wait', Seconds: '{% $states.input.s %}', Next: id },
  }
  return {
    [`_items_${id}`]: {
      ...runBlock(id, { block: id, phase: 'items', ...epochIn(epoch) }, epoch),
      Output: epoch ? { items: PAYLOAD, e: EPOCH } : PAYLOAD,
      Next: `_map_${id}`,
    },
    [`_map_${id}`]: {
      Type: 'Map',
      Items: epoch ? '{% $states.input.items %}' : '{% $states.input %}',
      ItemSelector: { i: '{% $states.context.Map.Item.Value %}', ...epochIn(epoch) },
      MaxConcurrency: Math.min(foreach?.max_concurrency ?? 1, MOST_ITEMS_AT_ONCE),
      ItemProcessor: { StartAt: id, States: itemStates },
      Output: epoch ? { e: EPOCH } : {},
      Next: `_close_${id}`,
    },
    ...emitClose(id, { signals, epoch }, onward),
  }
}

/** A state that waits for the child run, and one that takes over its outputs; only that one raises RetryBlock. */
function emitChild({ id }: CompiledBlock, { signals, epoch }: Emission, onward: Onward): States {
  return {
    [id]: {
      ...awaitToken('open-child', { block: id, ...epochIn(epoch) }),
      ...(epoch ? { Output: { e: EPOCH } } : {}),
      Next: `_close_${id}`,
    },
    ...emitClose(id, { signals, epoch }, onward),
  }
}

function emitClose(id: string, { signals, epoch }: Emission, onward: Onward): States {
  const payload = { block: id, phase: 'close', ...joinsOf(signals.get(id)), ...epochIn(epoch) }
  return { [`_close_${id}`]: { ...runBlock(id, payload, epoch), Output: PAYLOAD, ...onward } }
}

function runBlock(id: string, payload: Readonly<Record<string, unknown>>, epoch: boolean) {
  const Catch = [{ ErrorEquals: ['RetryBlock'], Next: `_retry_${id}`, ...(epoch ? { Output: RETRY_SIGNAL } : {}) }]
  return { ...callFunction('run-block', payload), Catch, TimeoutSeconds: BLOCK_TIMEOUT_SEC }
}

/** Left out where there is none: most blocks signal nothing. */
function joinsOf(joins: readonly string[] = []) {
  return joins.length === 0 ? {} : { joins }
}
