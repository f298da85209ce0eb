import type { RunEvent } from '../../shared/runs/event.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

const PAGE = 1_000

/** Every stored event of a run, page by page. */
export async function allEvents(world: Pick<World, 'runs'>, run: RunKey): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = []
  for (;;) {
    const page = await world.runs.events(run, all.at(-1)?.seq ?? 0, PAGE)
    all.push(...page)
    if (page.length < PAGE) return all
  }
}
