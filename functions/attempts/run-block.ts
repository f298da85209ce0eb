import * as z from 'zod'
import { isActing } from '../../shared/agents/agent-items.ts'
import { opensChild } from '../../shared/dag/dag.ts'
import { mayRest } from '../../shared/runs/rest.ts'
import { CallDoneSchema } from '../../shared/steps/native-order.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { joinKey, signalJoins } from '../record/joins.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { endRestOf, restIfIdle } from '../runs/rest.ts'
import { advanceBlock, advanceItem, failBlockOnFault } from './advance.ts'
import { closeAgent } from './agents/close-agent.ts'
import { openRound, type Round } from './agents/next-round.ts'
import { type BlockCall, isStale, readHead } from './block-call.ts'
import { type BlockReport, retryBlock } from './block-report.ts'
import { closeChild } from './child-end.ts'
import { closeItems, failOfItems, openItems } from './foreach.ts'
import { holdBlock, isHeld } from './hold.ts'
import { openNativeCall } from './native-call.ts'
import { closeNativeCall } from './native-call-end.ts'
import { openBlockCall } from './open-block-call.ts'
import { closeStep } from './step-end.ts'
import { tryBlock } from './try-block.ts'
import { closeWait } from './wait-end.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  joins: z.array(z.string()).max(1_000).default([]),
  e: z.int().min(0).optional(),
  item: z.int().min(0).optional(),
  phase: z.enum(['items', 'open', 'close']).optional(),
  /** Of a step: where what it came to lies; empty where nobody said. */
  outcome: z.string().optional(),
  /** Its state waits where this raises AskPerson; machines of before pauses do not say so. */
  holds: z.literal(true).optional(),
  /** Of a call of AWS: what it came to. */
  done: CallDoneSchema.optional(),
})

/**
 * The block state: the life of one attempt. Fence and upstream outcomes -> pre-gates -> approval -> claim -> dispatch
 * -> contract -> post-gates -> publish -> signal joins (docs/architecture.md, "The life of a block"). Safe to invoke
 * any number of times: the lane in HEAD decides what is left to do.
 */
export const handler = functionHandler({ name: 'run-block', input: InputSchema, run: runBlock })

/** The report of a block; phase `items` answers the numbers of the items to run. */
type Answer = BlockReport | readonly number[] | Round['next'] | Awaited<ReturnType<typeof openNativeCall>>

async function runBlock(event: z.infer<typeof InputSchema>, world: World, host: HostContext): Promise<Answer> {
  const opened = await openBlockCall(world, toRunKey(event.in), event, host.signal)
  if (isHeld(opened, event.phase)) return holdBlock(opened, event.holds === true)
  const call = await atWork(opened)
  if (call.block.foreach !== undefined && event.phase !== 'close') return itemNumbers(call, host)
  if (event.phase === 'items') return agentItems(call, host)
  if (event.phase === 'open') return openNativeCall(call, host)
  const report = await failBlockOnFault(call, host, () => advancePhase(call, event, host.signal))
  if (isStale(call)) return report
  const joins = event.joins.map((join) => joinKey(join, event.e))
  await signalJoins({ world, run: call.run, source: event.block }, joins)
  // What ended here may have been the last that went on by itself.
  if (mayRest(call.dag) || Object.keys(call.head.approvals).length > 0) await restIfIdle(world, call)
  return report
}

const LONGEST_SEC = 900

/** A run that rests takes a slot before anything of it is done; while there is none, its block comes back ever less often. */
async function atWork(call: BlockCall): Promise<BlockCall> {
  const { world, run, head } = call
  if (head.resting === undefined || head.paused !== undefined || isStale(call)) return call
  const wanted = await endRestOf(world, run, head)
  if (wanted === undefined) return readHead(call)
  throw retryBlock(call, Math.min(LONGEST_SEC, 5 + Math.floor((world.clock.now() - wanted) / 1_000)))
}

/** What a state of the machine asks for: an attempt of a block or of one item, or what the children of a block made. */
function advancePhase(
  call: BlockCall,
  { phase, ...worked }: Pick<z.infer<typeof InputSchema>, 'phase' | 'outcome' | 'done'>,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const close = (now: BlockCall) => closeBlock(now, worked)
  if (call.item !== undefined) return tryItem(call, phase === 'close' ? close : (now) => tryBlock(now, false, signal))
  if (phase !== 'close') return advanceBlock(call, (now, undecided) => tryBlock(now, undecided, signal))
  return advanceBlock(call, close)
}

function closeBlock(
  call: BlockCall,
  { outcome, done }: Pick<z.infer<typeof InputSchema>, 'outcome' | 'done'>,
): Promise<BlockReport> {
  // A person let it go on meanwhile: it begins where its child, its step, its wait, or its items do.
  if (call.resumed !== undefined) throw retryBlock(call)
  if (call.block.foreach !== undefined && call.item === undefined) return closeItems(call)
  if (isActing(call.block) && call.item === undefined) return closeAgent(call, call.block)
  if (call.block.mode === 'wait') return closeWait(call)
  if (done !== undefined) return closeNativeCall(call, done)
  if (opensChild(call.block.mode)) return closeChild(call)
  return outcome === undefined ? closeChild(call) : closeStep(call, outcome)
}

/** One that did not complete may have been the last its block waited for. */
async function tryItem(call: BlockCall, next: (now: BlockCall) => Promise<BlockReport>): Promise<BlockReport> {
  const report = await advanceItem(call, next)
  if (report.state !== 'completed') await failOfItems(call)
  return report
}

/** `_items_<id>` of an agent that acts: the turn or calls that the machine runs next. */
async function agentItems(call: BlockCall, host: HostContext): Promise<Round['next']> {
  let next: Round['next'] = []
  await failBlockOnFault(call, host, () =>
    advanceBlock(call, async (now, undecided) => {
      const round = await openRound(now, undecided, host.signal)
      next = round.next
      return round.report
    }),
  )
  return next
}

/** `_items_<id>`: the numbers of the items the machine runs; none when the block has ended, or does not begin. */
async function itemNumbers(call: BlockCall, host: HostContext): Promise<readonly number[]> {
  let count = 0
  await failBlockOnFault(call, host, () =>
    advanceBlock(call, async (now, undecided) => {
      const opened = await openItems(now, undecided, host.signal)
      count = opened.count
      return opened.report
    }),
  )
  return Array.from({ length: count }, (_, item) => item)
}
