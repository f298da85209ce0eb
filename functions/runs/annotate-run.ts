import { type Principal, personName, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { runErasedFault } from '../../shared/runs/erasure.ts'
import {
  changeLabels,
  currentLabels,
  LABEL_LIMITS,
  type LabelChange,
  type Labels,
  NOTE_LIMITS,
  type RunNote,
} from '../../shared/runs/labels.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

interface Annotation {
  readonly text?: string | undefined
  readonly labels?: LabelChange | undefined
}

type AnnotateWorld = Pick<World, 'runs' | 'clock' | 'ids'>

/** Others who change the labels of the same run at once. */
const MOST_TRIES = 20

/**
 * Changes the labels of a run and notes who did and what, or writes what somebody says of it: beside its record, so that it
 * is possible after its end, and changes nothing it was checked by. Who dies between the two leaves changed labels without
 * a note. Faults InvalidInput too_many_labels, LimitExceeded too_many_notes, Conflict labels_busy, NotFound run_erased.
 */
export async function annotateRun(
  world: AnnotateWorld,
  run: RunKey,
  principal: Principal,
  { text, labels: change }: Annotation,
): Promise<{ readonly note: RunNote; readonly labels: Labels }> {
  const erasure = (await world.runs.mark(run))?.erasure
  if (erasure !== undefined) throw runErasedFault(run, erasure)
  const { length } = await world.runs.notes(run)
  if (length >= NOTE_LIMITS.notes) {
    const message = `Cannot write to run "${run.run_id}": it has ${length} notes, and at most ${NOTE_LIMITS.notes} are kept.`
    throw new Fault('LimitExceeded', 'too_many_notes', message, { status: 409 })
  }
  const { labels, changed } = await labelsAfter(world, run, change)
  const by = principalName(principal)
  const person = personName(principal)
  const note: RunNote = {
    // Of two of one moment the later one is the greater.
    id: `note_${String(length).padStart(3, '0')}${Buffer.from(world.ids.random(6)).toString('hex')}`,
    at: new Date(world.clock.now()).toISOString(),
    by,
    ...(person === undefined || person === by ? {} : { person }),
    ...(text === undefined ? {} : { text }),
    ...(changed === undefined ? {} : { labels: changed }),
  }
  await world.runs.putNote(run, note)
  return { note, labels }
}

/** The labels as they are with the change, and what of it was one. */
async function labelsAfter(
  { runs }: AnnotateWorld,
  run: RunKey,
  change: LabelChange | undefined,
): Promise<{ readonly labels: Labels; readonly changed?: NonNullable<RunNote['labels']> }> {
  const meta = (await runs.meta(run)) ?? {}
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { labels: there } = (await runs.head(run, [])) ?? {}
    const before = currentLabels(meta, there === undefined ? {} : { labels: there })
    if (change === undefined) return { labels: before }
    const values = changeLabels(before, change)
    requireFewLabels(run, values)
    const changed = labelDifference(before, values)
    const isSame = Object.keys(changed.set).length + changed.removed.length === 0
    const version = (there?.version ?? 0) + 1
    if (isSame || (await runs.putLabels(run, { version, values }))) return { labels: values, changed }
  }
  const message = `Cannot label run "${run.run_id}": others change its labels at the same time. Try again.`
  throw new Fault('Conflict', 'labels_busy', message)
}

function requireFewLabels({ run_id }: RunKey, labels: Labels): void {
  const count = Object.keys(labels).length
  if (count <= LABEL_LIMITS.labels) return
  const message = `Cannot label run "${run_id}": it would have ${count} labels, and at most ${LABEL_LIMITS.labels} are allowed. Remove some first.`
  throw new Fault('InvalidInput', 'too_many_labels', message, { status: 422, facts: { count } })
}

function labelDifference(before: Labels, after: Labels): NonNullable<RunNote['labels']> {
  const set = Object.entries(after).filter(([key, value]) => !Object.hasOwn(before, key) || before[key] !== value)
  return { set: Object.fromEntries(set), removed: Object.keys(before).filter((key) => !Object.hasOwn(after, key)) }
}
