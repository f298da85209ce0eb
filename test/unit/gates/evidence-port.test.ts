import { describe, expect, test } from 'vitest'
import { readPortEvidence } from '../../../shared/gates/read-facts.ts'
import type { Json } from '../../../shared/text/json.ts'

const read = (found: Json) =>
  readPortEvidence({ inputs: { found }, outputs: {}, measured: { cost_usd: null, latency_ms: null } }, 'found')
const ID = 'acme.ops.geo.atlas.country.no'
const REF = `objstore://main/${'a'.repeat(64)}`

describe('evidence of a research block', () => {
  test('is known by its place, its entity and its object ref', () => {
    const item = { entity_id: ID, tier: '1', source: 'bm25_index', snippet_text: 'Norway', objectstore_ref: REF }
    expect(read([{ entity_id: 'x.x.x.x.x.x', text: 'Oslo' }, item])).toEqual({
      sources: [
        { id: '1', text: 'Oslo' },
        { id: 'x.x.x.x.x.x', text: 'Oslo' },
        { id: '2', text: 'Norway' },
        { id: ID, text: 'Norway' },
        { id: REF, text: 'Norway' },
      ],
    })
  })

  test('without a snippet has an empty text, and with its whole text that one', () => {
    expect(read([{ entity_id: ID }])).toMatchObject({
      sources: [
        { id: '1', text: '' },
        { id: ID, text: '' },
      ],
    })
    const whole = { entity_id: ID, snippet_text: 'short', text: 'the whole' }
    expect(read([whole])).toMatchObject({ sources: [{ text: 'the whole' }, { text: 'the whole' }] })
  })

  test('with an id of its own is known by that alone', () => {
    expect(read([{ id: 'census', text: 't', entity_id: ID }])).toEqual({ sources: [{ id: 'census', text: 't' }] })
  })

  test.each([[[{ entity_id: ID, snippet_text: 5 }]], [[{ entity_id: 5 }]], [[{ entity_id: ID, text: null }]]])(
    'that is none is refused: %j',
    (found) => expect(read(found)).toMatchObject({ unfit: { passed: false, unfit: true } }),
  )
})
