import type { Entity } from '../../../shared/graph/entity.ts'
import type { World } from '../../../shared/world.ts'

/** A graph of a few countries, their cities and two sensors: every kind of retrieval finds something in it. */
const AT = '2026-11-01T00:00:00.000Z'

export const idOf = (type: string, name: string) => `acme.ops.geo.atlas.${type}.${name}`

interface Place {
  readonly type: string
  readonly name: string
  readonly label: string
  readonly text?: string
  readonly says?: Readonly<Record<string, string | number | readonly string[]>>
  readonly more?: Partial<Entity>
}

const ATLAS: readonly Place[] = [
  {
    type: 'country',
    name: 'no',
    label: 'Norway',
    text: 'Norway is a country in Northern Europe. Its parliament is the Storting. Oil was found there in 1969.',
    says: {
      'geo.capital': idOf('city', 'oslo'),
      'geo.borders': [idOf('country', 'se'), idOf('country', 'fi')],
      'geo.currency': 'Norwegian krone',
      'geo.area': 323802,
    },
    more: { aliases: ['Kingdom of Norway'] },
  },
  {
    type: 'country',
    name: 'se',
    label: 'Sweden',
    text: 'Sweden is a country in Northern Europe. Its parliament is the Riksdag.',
    says: {
      'geo.capital': idOf('city', 'stockholm'),
      'geo.borders': [idOf('country', 'no'), idOf('country', 'fi')],
      'geo.currency': 'Swedish krona',
      'geo.area': 450295,
    },
  },
  {
    type: 'country',
    name: 'fi',
    label: 'Finland',
    text: 'Finland has many lakes. Its parliament is the Eduskunta.',
    says: { 'geo.capital': idOf('city', 'helsinki'), 'geo.currency': 'Euro', 'geo.area': 338424 },
  },
  {
    type: 'country',
    name: 'pe',
    label: 'Peru',
    text: 'Peru lies on the Pacific Ocean.',
    says: { 'geo.capital': idOf('city', 'lima'), 'geo.currency': 'Peruvian sol', 'geo.area': 1285216 },
  },
  {
    type: 'city',
    name: 'oslo',
    label: 'Oslo',
    text: 'Oslo lies at the head of a fjord.',
    says: { 'geo.population': 709037 },
    more: { geo: { lat: 59.91, lon: 10.75 } },
  },
  {
    type: 'city',
    name: 'stockholm',
    label: 'Stockholm',
    text: 'Stockholm lies on fourteen islands.',
    more: { geo: { lat: 59.33, lon: 18.07 } },
  },
  { type: 'city', name: 'helsinki', label: 'Helsinki', text: 'Helsinki lies on the Gulf of Finland.' },
  { type: 'city', name: 'lima', label: 'Lima', text: 'Lima lies on the coast. About 10 million people live there.' },
  {
    type: 'sensor',
    name: 's1',
    label: 'Sensor S1',
    text: 'Sensor S1 reported a pump fault at the Oslo harbour.',
    says: { 'ops.state': 'fault' },
    more: { geo: { lat: 59.905, lon: 10.74 }, time: AT },
  },
  {
    type: 'sensor',
    name: 's2',
    label: 'Sensor S2',
    text: 'Sensor S2 reported nothing unusual.',
    says: { 'ops.state': 'normal' },
    more: { geo: { lat: -12.05, lon: -77.04 }, time: '2020-01-01T00:00:00.000Z' },
  },
]

/** Puts the atlas, each text as a stored body, and whatever else a test needs. */
export async function putAtlas(world: Pick<World, 'graph' | 'objects'>, more: readonly Place[] = []): Promise<void> {
  const entities = await Promise.all(
    [...ATLAS, ...more].map(async ({ type, name, label, text, says = {}, more: rest }): Promise<Entity> => {
      const entity_id = idOf(type, name)
      const stated = Object.entries(says).flatMap(([predicate, objects]) =>
        [objects].flat().map((object) => ({ subject: entity_id, predicate, object, source: 'atlas', timestamp: AT })),
      )
      const body =
        text === undefined ? {} : { objectstore_ref: (await world.objects.put('main', Buffer.from(text))).ref }
      const triples = stated.map((triple) => ({ ...triple, confidence: 1, rule_opaque: false }))
      return {
        entity_id,
        label,
        ...body,
        ...(text === undefined ? {} : { snippet: text.slice(0, 60) }),
        triples,
        ...rest,
      }
    }),
  )
  const outcomes = await world.graph.put('main', entities)
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed')
  if (failed.length > 0) throw new Error(JSON.stringify(failed))
}
