import { type Block, type Dag, judgingBlocks } from '../../shared/dag/dag.ts'
import type { RunEvent, StoredValue } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { type BlockFold, eventPosition } from '../../shared/runs/run-fold.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { unavailableIfMissing } from '../record/pinned-run.ts'
import { readPortValues } from '../record/projections.ts'
import { allEvents } from '../record/run-log.ts'

/** An attempt whose outputs are its block's: it completed in the newest epoch. */
export interface CurrentOutput {
  readonly block: string
  readonly attempt: number
  readonly epoch: number
  /** Of its block:output. */
  readonly seq: number
  readonly outputs: Readonly<Record<string, StoredValue>>
  /** Of a foreach block, whose outputs are lists of what its items made: how those ended, by number. */
  readonly items?: NonNullable<BlockFold['items']>
  /** Of a `mode: dag` block: the run that made its outputs. */
  readonly child?: string
  /** The run whose result stands in for an attempt of its own. */
  readonly cached_from?: string
  /** Blocks that a bounce sent back after it had said what it says. */
  readonly sent_back: ReadonlySet<string>
}

type Rerouted = Extract<RunEvent, { readonly type: 'block:rerouted' }>

/** The attempts of a run that stand, in the order in which their outputs were recorded. */
export async function currentOutputs(world: Pick<World, 'runs'>, run: RunKey): Promise<readonly CurrentOutput[]> {
  const events = await allEvents(world, run)
  const { blocks } = foldRun(events)
  const reroutes = events.filter((event): event is Rerouted => event.type === 'block:rerouted')
  const found = new Map<string, CurrentOutput>()
  for (const event of events) {
    if (event.type !== 'block:output' || event.block_id === undefined) continue
    const block = Object.hasOwn(blocks, event.block_id) ? blocks[event.block_id] : undefined
    if (block === undefined || !stands(block, event)) continue
    const { attempt, epoch } = block
    const { seq, data } = event
    const made = madeBy(block, childOf(events, event))
    const place = { block: event.block_id, attempt, epoch, seq }
    // Of two outputs of one attempt the later one is what it completed with.
    found.set(event.block_id, { ...place, outputs: data.outputs, ...made, sent_back: sentBackAfter(reroutes, seq) })
  }
  return [...found.values()].toSorted((a, b) => a.seq - b.seq)
}

function madeBy(
  { item_count, items = {}, cached_from }: BlockFold,
  child: string | undefined,
): Pick<CurrentOutput, 'items' | 'child' | 'cached_from'> {
  return {
    ...(item_count === undefined ? {} : { items }),
    ...(child === undefined ? {} : { child }),
    ...(cached_from === undefined ? {} : { cached_from }),
  }
}

/** The child run the attempt of this output was claimed with. */
function childOf(events: readonly RunEvent[], output: RunEvent): string | undefined {
  const { attempt, epoch } = eventPosition(output)
  const claim = events.findLast((event) => {
    const place = eventPosition(event)
    const isClaim = event.type === 'block:started' && event.block_id === output.block_id && place.item === undefined
    return isClaim && place.attempt === attempt && place.epoch === epoch
  })
  return claim?.type === 'block:started' ? claim.data.child : undefined
}

function sentBackAfter(reroutes: readonly Rerouted[], seq: number): ReadonlySet<string> {
  return new Set(reroutes.filter((event) => event.seq > seq).flatMap(({ data }) => data.reset))
}

function stands({ state, attempt, epoch }: BlockFold, event: RunEvent): boolean {
  const place = eventPosition(event)
  const own = place.item === undefined && place.attempt === attempt && place.epoch === epoch
  return own && state === 'completed'
}

/**
 * The standing blocks that speak for the goal of their run. Those that judge it do not, nor do approvals: what a person
 * says with a decision is no measurement, also where it looks like one. Nor do blocks that only read: a file that was
 * brought along, a stored body, what the research chain found are somebody else's words.
 */
export function evidenceBlocks(
  { blocks, completion }: Pick<Dag, 'blocks' | 'completion'>,
  standing: readonly CurrentOutput[],
): readonly CurrentOutput[] {
  const judging = completion === undefined ? new Set<string>() : judgingBlocks(completion)
  const silent = new Set(blocks.filter((block) => block.mode === 'approval' || onlyReads(block)).map(({ id }) => id))
  return standing.filter(({ block }) => !judging.has(block) && !silent.has(block))
}

function onlyReads(block: Block): boolean {
  return block.mode === 'research' || (block.mode === 'deterministic' && READERS.has(block.handler))
}

const READERS: ReadonlySet<string> = new Set(['read-input', 'read-table', 'read-object'])

/**
 * The values of a block by port. One that is not there is Unavailable: without it an earlier text would speak for the
 * run, so no verdict is better than one without it.
 */
export async function readOutputValues(
  world: Pick<World, 'objects'>,
  tenant: string,
  { block, outputs }: Pick<CurrentOutput, 'block' | 'outputs'>,
): Promise<Readonly<Record<string, Json>>> {
  return readPortValues(world, tenant, outputs).catch(unavailableIfMissing(`an output of block "${block}"`))
}
