import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import type { RecordedCallWithPrompt } from '../../shared/providers/recording.ts'
import { type ChainState, initialChainState, type StageTrace } from '../../shared/research/chain-state.ts'
import type { promptTokenBudget } from '../../shared/research/prompt-budget.ts'
import { STAGES, type Stage } from '../../shared/research/stages.ts'
import { type Amount, NOTHING, plus, type Spent } from '../../shared/runs/budget.ts'
import type { EventData, RunEvent } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { LaneStands, Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { allEvents } from '../record/run-log.ts'
import { openCountedStorage } from '../record/storage-quota.ts'
import { readChain, readResearchQuestion } from './stored-chain.ts'

/** One invocation of one stage: what it found, and what its model calls used. */
export interface StageCall {
  readonly world: World
  readonly run: RunKey
  readonly meta: Meta
  readonly stage: Stage
  /** Key of its lane in HEAD. */
  readonly lane: string
  readonly head: Head
  readonly step: number
  readonly failed: StageInput['failed']
  readonly plain: boolean
  readonly state: ChainState
  /** The object `state` was read from; of the first stage what was asked. */
  readonly in_ref: string
  /** When it began, ms since 1970. */
  readonly began: number
  readonly signal: AbortSignal | undefined
  readonly meter: StageMeter
}

/** The lane of a stage. */
export function stageLane(stage: Stage): string {
  return `s${STAGES.indexOf(stage)}`
}

/** Reads HEAD, META and the state of the chain. Fault InvalidInput start_through_the_api for a run that is no research. */
export async function openStageCall(
  given: World,
  stage: Stage,
  { in: input, step, ref, failed, plain }: StageInput,
  signal: AbortSignal | undefined,
): Promise<StageCall> {
  const run = toRunKey(input)
  const { world } = openCountedStorage(given, run)
  const [meta, head] = await Promise.all([world.runs.meta(run), world.runs.head(run)])
  if (meta?.intent_ref === undefined || head === undefined) throw noResearch(run)
  const state =
    ref === '' ? initialChainState(await readResearchQuestion(world, meta)) : await readChain(world, run.tenant, ref)
  const lane = stageLane(stage)
  const meter = await openStageMeter(world, { run, head, lane, step })
  const place = { stage, lane, step, failed, plain, state, in_ref: ref === '' ? meta.intent_ref : ref }
  return { world, run, meta, head, ...place, began: world.clock.now(), signal, meter }
}

function noResearch({ run_id }: RunKey): Fault {
  const message = `Cannot go on with run "${run_id}": it answers no question. Start research with POST /api/research or \`sluice research ask\`.`
  return new Fault('InvalidInput', 'start_through_the_api', message, { facts: { run_id } })
}

/** What the machine of the chain calls a stage with (shared/compile/research-machine.ts). */
export const StageInputSchema = z.strictObject({
  in: MachineInputSchema,
  /** 0, 1, 2 ..: the chain's own count of the stages it went through. */
  step: z.int().min(0).max(999),
  /** State of the chain after the step before; '' before the first. */
  ref: z.string().max(300),
  /** The stage before it failed for good: this is about the error's name. */
  failed: z.strictObject({ stage: z.enum(STAGES), error: z.string().max(200) }).nullish(),
  /** No model is asked: the answer that asked one failed. */
  plain: z.boolean().default(false),
})

type StageInput = z.output<typeof StageInputSchema>

/** What the work of a stage came to: what changes in the state of the chain, and where it goes on. */
export interface StageOutcome {
  readonly change: Partial<ChainState>
  readonly next: ChainState['next']
  /** Why the answer is less than it could be. */
  readonly degraded?: readonly (string | undefined)[]
  /** What the trace and the event say of it. */
  readonly said?: Pick<StageTrace, 'action' | 'rationale' | 'sufficient' | 'found' | 'judged'>
}

/** Straight to the answer, without another call of a model: the chain cannot go on as it should. */
export function toPlainAnswer(why: string, change: Partial<ChainState> = {}): StageOutcome {
  return { change: { ...change, plain: true }, next: 'synthesize_answer', degraded: [why] }
}

/** What a stage answers its machine: the next step, from the state it names. */
export interface StageAnswer {
  readonly step: number
  readonly ref: string
  readonly next: Stage | 'settle'
}

/** The event of each stage. */
export const STAGE_EVENTS = {
  nl_classify: 'research:classified',
  route_search: 'research:routed',
  execute_subqueries: 'research:executed',
  assess_sufficiency: 'research:assessed',
  synthesize_answer: 'research:synthesized',
} as const satisfies Readonly<Record<Stage, RunEvent['type']>>

/** What this step of the stage came to, if somebody recorded it: the same answer again, without any of its work. */
export async function recordedStage(
  { world, run, stage, step }: StageCall,
  lane: number | null,
): Promise<StageAnswer | undefined> {
  if (lane === null) return undefined
  const { attempt, phase } = readOrdinal(lane)
  if (attempt < step || (attempt === step && phase < PHASE.output)) return undefined
  const type = STAGE_EVENTS[stage]
  const events = await allEvents(world, run)
  const told = events.findLast((event) => event.type === type && event.data.n === step)
  if (told?.type !== type) throw stageSupersededFault(run)
  const { ref } = told.data
  return { step: step + 1, ref, next: (await readChain(world, run.tenant, ref)).next }
}

/** Another invocation has this stage now: whoever asks again finds what that one recorded. */
export function stageSupersededFault({ run_id }: RunKey): Fault {
  const message = `Run "${run_id}" was stopped, or another call of this stage took its place.`
  return new Fault('Rejected', 'superseded', message)
}

/** What the model calls of one invocation have reserved and used: all of a StageCall that changes. */
interface StageMeter {
  /** Where the stage's own lane stands, as far as this invocation knows. */
  lane: number | null
  /** Set aside by invocations that died before they recorded what they used: it counts as used. */
  readonly lost: Amount
  /** Lanes of stages that failed with something set aside: nobody may write there meanwhile. */
  readonly left: readonly LaneStands[]
  /** Set aside by this invocation, whatever it used of it. */
  reserved: Amount
  used: Spent
  /** Whether the price of every call was known; undefined: there was none. */
  priced: boolean | undefined
  retries: number
  readonly calls: RecordedCallWithPrompt[]
  exceeded: EventData<'budget:exceeded'> | undefined
}

interface StagePosition {
  readonly run: RunKey
  readonly head: Head
  readonly lane: string
  readonly step: number
}

/** The last stage of the chain: what others left is told with its answer. */
const LAST = 's4'

/** The events are read only where somebody left a reservation behind. */
async function openStageMeter(
  world: Pick<World, 'runs'>,
  { run, head, lane, step }: StagePosition,
): Promise<StageMeter> {
  const own = head.lanes[lane] ?? null
  const left = lane === LAST ? unfinished(head) : []
  const mine = own !== null && readOrdinal(own).attempt === step && isReserved(own) ? [{ lane, is: own }] : []
  const open = [...mine, ...left]
  const lost = open.length === 0 ? NOTHING : reservedOn(await allEvents(world, run), open)
  const nothing = { reserved: NOTHING, used: NOTHING, priced: undefined, retries: 0, calls: [], exceeded: undefined }
  return { lane: own, lost, left, ...nothing }
}

function unfinished({ lanes }: Head): readonly LaneStands[] {
  return Object.entries(lanes).flatMap(([lane, is]) => (/^s[0-3]$/.test(lane) && isReserved(is) ? [{ lane, is }] : []))
}

/** Between the first reservation of a step and its record. */
function isReserved(lane: number): boolean {
  const { phase } = readOrdinal(lane)
  return phase >= PHASE.reserved && phase < PHASE.output
}

/** What was set aside on these lanes in the step each is at. */
function reservedOn(events: readonly RunEvent[], lanes: readonly LaneStands[]): Amount {
  const steps = new Map(lanes.map(({ lane, is }) => [lane, readOrdinal(is ?? 0).attempt]))
  return events.reduce((sum, { id, type, data }) => {
    const [lane = '', place] = id.split('/')
    const isOpen = type === 'budget:reserved' && steps.get(lane) === readOrdinal(Number(place)).attempt
    return isOpen ? plus(sum, data) : sum
  }, NOTHING)
}

/** With less than this a chain only composes its answer: it must be recorded before the run is over. */
const SPARE_MS = 20_000

/** Why nothing more is begun. */
export const NO_TIME = 'timeout: less than 20 seconds of its time were left'

/** Milliseconds the run has for searching and asking; 0 or less = none. */
export function timeLeft({ world, head }: Pick<StageCall, 'world' | 'head'>): number {
  return Date.parse(head.deadline_at) - world.clock.now() - SPARE_MS
}

/** Tokens the chain's model calls may still use, those of this invocation taken off. */
export function tokensLeft({ head, meter, state }: Pick<StageCall, 'head' | 'meter' | 'state'>): number {
  const { cap_tokens = state.intent.budget_tokens, committed_tokens } = head.budget
  return cap_tokens - committed_tokens - meter.used.tokens
}

/** What all calls used, with this invocation's: a call that was lost counts with its estimate. */
export function tokensUsed({ head, meter }: Pick<StageCall, 'head' | 'meter'>): number {
  return head.budget.spent_tokens + meter.lost.tokens + meter.used.tokens
}

/** What the calls of a chain may still use, as promptTokenBudget() divides it. */
export function promptRoomFor(call: StageCall): Parameters<typeof promptTokenBudget>[2] {
  const { head, state, world } = call
  return {
    cap: head.budget.cap_tokens ?? state.intent.budget_tokens,
    left: tokensLeft(call),
    max_tokens: world.settings.research.max_tokens,
  }
}
