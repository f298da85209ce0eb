import type { ShownEvidence } from '../claims/shown-evidence.ts'
import {
  kilometresBetween,
  type NearLocation,
  questionWithoutTimeAndLocation,
  readNearLocation,
} from '../question/hint-patterns.ts'
import { contentTerms } from '../question/terms.ts'

/** What a circle or a time range found: an answer of its own. */
interface ThingsFound {
  /** Places in the evidence, from 1; of a circle the nearest first. */
  readonly places: readonly number[]
  /** The question asks for them and for nothing else. */
  readonly isAll: boolean
}

/** The things of the evidence that lie where the question says, or were found by when they were; of the type it names. */
export function thingsInRange(topic: string, evidence: readonly ShownEvidence[]): ThingsFound {
  const circle = readNearLocation(topic.replaceAll('_', ' '))
  const asked = contentTerms(questionWithoutTimeAndLocation(topic))
  const types = new Set(evidence.flatMap(typeTerms).filter((term) => asked.includes(term)))
  const placed = evidence.map((item, at) => ({ item, place: at + 1, far: distance(item, circle) }))
  const found = placed
    .filter(
      ({ item, far }) => far !== undefined && (types.size === 0 || typeTerms(item).some((term) => types.has(term))),
    )
    .toSorted((a, b) => (a.far ?? 0) - (b.far ?? 0) || a.place - b.place)
  const isAll = circle !== undefined && asked.every((term) => types.has(term) || ANY_TYPE.has(term))
  return { places: found.map(({ place }) => place), isAll }
}

/** Terms that stand for things of any type. */
const ANY_TYPE: ReadonlySet<string> = new Set(['plac', 'place', 'thing', 'entity'])

/** Kilometres from the middle of the circle, 0 where there is none; undefined: it does not lie there. */
function distance({ source, geo }: ShownEvidence, circle: NearLocation | undefined): number | undefined {
  if (circle === undefined || geo === undefined)
    return source === 'spatial' || source === 'temporal_range' ? 0 : undefined
  const far = kilometresBetween(circle, geo)
  return far <= circle.kilometres ? far : undefined
}

function typeTerms({ entity_id }: ShownEvidence): readonly string[] {
  return contentTerms((entity_id.split('.')[4] ?? '').replace(/[_-]+/g, ' '))
}
