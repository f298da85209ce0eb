import type { RunEvent } from '../../shared/runs/event.ts'
import { type LaneOwner, laneKey } from '../../shared/runs/lane-key.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'
import { type Projected, projectEvent } from './project-event.ts'

const PAGE = 500

/**
 * A block's projection made again from the events of its lane's epoch, as the writer that died would have left it. Events
 * that came after HEAD was read (`lane`) belong to steps of others, whose own projections are to come.
 */
export async function recoverProjection(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  owner: LaneOwner,
  lane: number,
): Promise<BlockProjection> {
  const { dag } = await readPinned(world, run)
  const { attempt, outcome } = readOrdinal(lane)
  let found: Projected = { facts: { state: outcome ?? 'running' }, refused: [] }
  for (let since = 0; ; ) {
    const events = await world.runs.events(run, since, PAGE)
    for (const event of events) {
      if (!isOf(event, laneKey(owner), lane)) continue
      found = projectEvent(found, event, dag.blocks[owner.block])
    }
    const last = events.at(-1)
    if (last === undefined || events.length < PAGE) return { ...owner, ordinal: lane, attempt, ...found.facts }
    since = last.seq
  }
}

function isOf({ id }: RunEvent, key: string, upTo: number): boolean {
  const [lane, at] = id.split('/')
  return lane === key && Number(at) <= upTo && readOrdinal(Number(at)).epoch === readOrdinal(upTo).epoch
}
