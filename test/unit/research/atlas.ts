import type { ShownEvidence } from '../../../shared/research/claims/shown-evidence.ts'

/** A few countries and cities as a stage shows them to a synthesizer. */
const id = (type: string, name: string) => `acme.ops.geo.atlas.${type}.${name}`

export const NORWAY = {
  entity_id: id('country', 'no'),
  tier: '1',
  source: 'bm25_index',
  label: 'Norway',
  text: 'Norway is a country in Northern Europe. Its parliament is the Storting. Oil was found in 1969.',
  facts: [
    { predicate: 'geo.country.capital', object: 'Oslo', object_id: id('city', 'oslo') },
    { predicate: 'geo.country.borders', object: 'Sweden', object_id: id('country', 'se') },
    { predicate: 'geo.country.borders', object: 'Finland', object_id: id('country', 'fi') },
    { predicate: 'geo.country.currency', object: 'Norwegian krone' },
    { predicate: 'geo.country.area', object: '323802' },
  ],
} satisfies ShownEvidence & { tier: string }

export const PERU = {
  entity_id: id('country', 'pe'),
  tier: '1',
  source: 'bm25_index',
  label: 'Peru',
  text: 'Peru lies on the Pacific.',
  facts: [
    { predicate: 'geo.country.capital', object: 'Lima', object_id: id('city', 'lima') },
    { predicate: 'geo.country.currency', object: 'Peruvian sol' },
    { predicate: 'geo.country.area', object: '1285216' },
  ],
} satisfies ShownEvidence & { tier: string }

export const LIMA = {
  entity_id: id('city', 'lima'),
  tier: '0',
  source: 'entity_state',
  label: 'Lima',
  text: 'Lima lies on the coast. About 10 million people live there.',
} satisfies ShownEvidence & { tier: string }

export const ATLAS = [LIMA, NORWAY, PERU]
