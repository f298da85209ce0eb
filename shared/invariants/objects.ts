import { scriptRef, versionsOfDag } from '../gates/project-gates.ts'
import type { RunEvent } from '../runs/event.ts'
import { attemptOf } from '../runs/run-fold.ts'
import { sha256 } from '../text/hash.ts'
import { defineInvariant } from './invariant.ts'

const READ_AT_ONCE = 16
const REF = /^objstore:\/\/[^/]+\/([0-9a-f]{64})$/

export const refs = defineInvariant({
  n: 21,
  title: 'every object a run names is there and has the hash and the size it is named with',
  of: 'objects',
  needs: ['events', 'meta', 'read'],
  async check({ events, meta, dag, projections = [], approvals = [], artifacts = [], read }) {
    const named = new Map<string, Named>()
    for (const event of events) collect(event.data, `event ${event.seq}`, named)
    const { dag_ref, goal, pivots } = meta
    collect({ dag_ref, goal, pivots }, 'META', named)
    for (const version of dag === undefined ? [] : versionsOfDag(dag)) {
      collect({ script_ref: scriptRef(meta.tenant, version) }, 'a gate of its document', named)
    }
    for (const one of projections) collect(one, `the projection of block ${one.block}`, named)
    for (const one of approvals) collect(one.shown, `approval ${one.id}`, named)
    for (const one of artifacts) collect(one, `artifact ${one.name}`, named)
    const found = await inBatches([...named.values()], READ_AT_ONCE, async (one) => problemOf(one, await read(one.ref)))
    return found.flat()
  },
})

/** What some data names. */
function namedObjects(data: unknown): Iterable<Named> {
  const named = new Map<string, Named>()
  collect(data, '', named)
  return named.values()
}

interface Named {
  readonly ref: string
  readonly by: string
  readonly sha256?: unknown
  readonly bytes?: unknown
}

/** Every `ref` and `.._ref`; the facts of a verdict are a gate's own words, which may name what is not there. */
function collect(value: unknown, by: string, named: Map<string, Named>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'string') note(value, key, member, by, named)
    else if (key !== 'facts') collect(member, by, named)
  }
}

/** The same object may be named with another size elsewhere: that is another thing to find out. */
function note(
  beside: { readonly sha256?: unknown; readonly bytes?: unknown },
  key: string,
  ref: string,
  by: string,
  named: Map<string, Named>,
): void {
  if (key === 'ref') named.set(`${ref} ${beside.sha256} ${beside.bytes}`, { ...beside, ref, by })
  else if (key.endsWith('_ref')) named.set(ref, { ref, by })
}

function problemOf({ ref, by, sha256: told, bytes }: Named, body: Uint8Array | undefined): readonly string[] {
  const [, hash] = REF.exec(ref) ?? []
  if (hash === undefined) return [`${by} names "${ref}", which is no ref`]
  if (body === undefined) return [`${by} names ${ref}, which is not there or damaged`]
  const wrong: string[] = []
  if (sha256(body) !== hash) wrong.push(`${by} names ${ref}, whose content has another hash`)
  if (told !== undefined && told !== hash) wrong.push(`${by} names ${ref} with the hash ${told}`)
  if (bytes !== undefined && bytes !== body.byteLength)
    wrong.push(`${by} names ${ref} with ${bytes} bytes, it has ${body.byteLength}`)
  return wrong
}

export const storedBytes = defineInvariant({
  n: 40,
  title: 'a run has counted at least the bytes of the bodies its events name',
  of: 'objects',
  needs: ['events', 'head', 'read'],
  async check({ events, head, read }) {
    const { stored_bytes } = head
    // It began before they were counted.
    if (stored_bytes === undefined) return []
    const sizes = await inBatches([...bodiesOf(events)], READ_AT_ONCE, async ([ref, bytes]) => {
      return bytes ?? (await read(ref))?.byteLength ?? 0
    })
    const named = sizes.reduce((sum, bytes) => sum + bytes, 0)
    return named <= stored_bytes ? [] : [`its events name ${named} bytes of bodies, HEAD counts ${stored_bytes}`]
  },
})

/** Each body once, with its size where an event says it. */
function bodiesOf(events: readonly RunEvent[]): ReadonlyMap<string, number | undefined> {
  const taken = new Set(events.filter(isTaken).map(attemptOf))
  const named = events.flatMap((event) => [...namedObjects(ownData(event, taken))])
  const sizes = new Map<string, number | undefined>()
  for (const { ref, bytes } of named) {
    if (typeof bytes === 'number') sizes.set(ref, bytes)
    else if (!sizes.has(ref)) sizes.set(ref, undefined)
  }
  return sizes
}

/**
 * What of an event this run stored. What was asked of a research run was stored before it; what a model answered for a
 * result that was taken over, by the run that asked.
 */
function ownData(event: RunEvent, taken: ReadonlySet<string>): unknown {
  if (event.type === 'research:requested') return {}
  return event.type === 'block:output' && taken.has(attemptOf(event)) ? event.data.outputs : event.data
}

function isTaken(event: RunEvent): boolean {
  return event.type === 'block:completed' && event.data.cached_from !== undefined
}

/** Answers in the order of `all`, at most `limit` under way at once. */
async function inBatches<T, R>(all: readonly T[], limit: number, work: (one: T) => Promise<R>): Promise<readonly R[]> {
  const answers: R[] = []
  for (let i = 0; i < all.length; i += limit) {
    answers.push(...(await Promise.all(all.slice(i, i + limit).map(work))))
  }
  return answers
}
