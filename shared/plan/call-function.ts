import { Fault } from '../errors.ts'
import type { TaskCall } from './read-task.ts'
import { joinOf, wakeIfDone } from './signal.ts'
import type { Frame, Walk } from './walk.ts'

/** What a function of ours does to the machine that calls it, in a run where nothing fails. */
export function callFunction(walk: Walk, frame: Frame, call: TaskCall): void {
  const part = walk.parts.get(call.name)
  if (part !== undefined) {
    frame.open = 1
    walk.begin(walk, call.name, part, frame)
    return
  }
  const act = ACTS[call.name]
  if (act === undefined) throw new Fault('Bug', 'machine_not_followed', `Cannot follow a call of "${call.name}".`)
  walk.calls[call.name] = (walk.calls[call.name] ?? 0) + 1
  const { block } = call
  if (block !== undefined && !walk.started.has(block)) walk.started.set(block, walk.agenda.now())
  act(walk, frame, call)
}

type Act = (walk: Walk, frame: Frame, call: TaskCall) => void

const ACTS: Readonly<Record<string, Act>> = {
  RunBlock(walk, frame, call) {
    if (call.phase === 'items') frame.items = walk.outcomes.items(call.block ?? '')
    if (call.phase === undefined) work(walk, frame, call)
    else goOn(walk, frame)
  },
  OpenChild: work,
  RequestApproval: goOn,
  WaitJoin(walk, frame, call) {
    const tally = joinOf(walk, frame, call, call.join ?? '')
    tally.waiter = { need: call.need ?? 0, frame }
    wakeIfDone(walk, tally)
  },
  CloseModule(walk, frame, { module = 0 }) {
    const bounced = walk.bounced.get(module) ?? 0
    frame.yes = bounced < walk.outcomes.bounces(module)
    frame.epoch = frame.yes ? bounced + 1 : 0
    walk.bounced.set(module, bounced + 1)
    goOn(walk, frame)
  },
  Settle(walk, frame) {
    frame.yes = true
    frame.choice = walk.outcomes.judged === true && !walk.decided ? 1 : 0
    goOn(walk, frame)
  },
  DecideCompletion(walk, frame) {
    walk.decided = true
    goOn(walk, frame)
  },
}

function goOn(walk: Walk, frame: Frame): void {
  walk.agenda.put(walk.agenda.now(), frame)
}

/** Takes a slot of max_parallel, or waits for one. */
function work(walk: Walk, frame: Frame, { block = '' }: TaskCall): void {
  const { agenda, outcomes, waitingForSlot } = walk
  const seconds = outcomes.seconds(block)
  walk.works += 1
  if (outcomes.max_parallel > 0 && walk.running >= outcomes.max_parallel) {
    waitingForSlot.push({ frame, seconds })
    return
  }
  walk.running += 1
  walk.atOnce = Math.max(walk.atOnce, walk.running)
  frame.holdsSlot = true
  agenda.put(agenda.now() + seconds, frame)
}
