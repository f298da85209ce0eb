import * as z from 'zod'
import type { Evidence, LocatedMarker } from '../evidence.ts'
import { wildcardMatcher } from '../glob.ts'
import { normaliseDashes } from '../marker.ts'
import { CRITERION_BASE, type CriterionKind, type Judgement, sourceOf } from './criterion.ts'

const KEY = /^[A-Z][A-Z0-9_-]*(?::[^\]\r\n]+)?$/

const MarkerRequiredSchema = z.strictObject({
  ...CRITERION_BASE,
  kind: z.literal('marker_required'),
  marker: z.string().max(200).regex(KEY, 'a marker is TYPE or TYPE:subtype, the type in upper case and without *'),
})
type MarkerRequired = z.infer<typeof MarkerRequiredSchema>

export const markerRequired: CriterionKind<MarkerRequired> = {
  kind: 'marker_required',
  summary:
    'A marker of this type is there; with `TYPE:subtype`, one of this subtype, in which `*` stands for any characters.',
  example: { id: 'AC2', kind: 'marker_required', marker: 'METRIC:baseline_*' },
  schema: MarkerRequiredSchema,
  target: ({ marker }) => marker,
  asks: ({ marker }) =>
    `a line that begins with [${marker}]${marker.includes('*') ? ', where * stands for any characters,' : ''} and goes on with what it says`,
  judge,
  suggest: ({ marker }) => `Print a line "[${marker}] ..." where the work supports it`,
}

function judge({ marker }: MarkerRequired, { markers }: Evidence): Judgement {
  const found = markers.find(fitting(marker))
  if (found === undefined) return { status: 'NOT_MET', message: `there is no [${marker}] line in the evidence` }
  const { type, subtype } = found
  const key = subtype === undefined ? type : `${type}:${subtype}`
  return { status: 'MET', actualValue: key, message: `[${key}] is there`, source: sourceOf(found) }
}

function fitting(wanted: string): (marker: LocatedMarker) => boolean {
  const colon = wanted.indexOf(':')
  const key = normaliseDashes(colon < 0 ? wanted : wanted.slice(0, colon))
  if (colon < 0) return ({ type }) => type === key
  const fits = wildcardMatcher(normaliseDashes(wanted.slice(colon + 1)))
  return ({ type, subtype }) => type === key && subtype !== undefined && fits(normaliseDashes(subtype))
}
