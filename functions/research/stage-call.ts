import { Fault } from '../../shared/errors.ts'
import { type ChainState, openChain } from '../../shared/research/chain-state.ts'
import { STAGES, type Stage } from '../../shared/research/stage.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { runOf } from '../runs/machine-input.ts'
import { openStorage } from '../storage.ts'
import { readAsked } from './read-asked.ts'
import { readChain } from './read-chain.ts'
import type { StageInput } from './stage-input.ts'
import { openStageMeter, type StageMeter } from './stage-meter.ts'

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
  const run = runOf(input)
  const { world } = openStorage(given, run)
  const [meta, head] = await Promise.all([world.runs.meta(run), world.runs.head(run)])
  if (meta?.intent_ref === undefined || head === undefined) throw noResearch(run)
  const state = ref === '' ? openChain(await readAsked(world, meta)) : await readChain(world, run.tenant, ref)
  const lane = stageLane(stage)
  const meter = await openStageMeter(world, { run, head, lane, step })
  const place = { stage, lane, step, failed, plain, state, in_ref: ref === '' ? meta.intent_ref : ref }
  return { world, run, meta, head, ...place, began: world.clock.now(), signal, meter }
}

function noResearch({ run_id }: RunKey): Fault {
  const message = `Cannot go on with run "${run_id}": it answers no question. Start research with POST /api/research or \`sluice research ask\`.`
  return new Fault('InvalidInput', 'start_through_the_api', message, { facts: { run_id } })
}
