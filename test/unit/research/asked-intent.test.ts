import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ENTITY_LIMITS, EntitySchema } from '../../../shared/graph/entity.ts'
import { kickoffTriples, loopEntityId } from '../../../shared/research/loop-entity.ts'
import { readPayload } from '../../../shared/research/payloads/codec.ts'
import {
  ASKED_LIMITS,
  AskedIntentSchema,
  intentKind,
  pinIntent,
  QuestionSchema,
} from '../../../shared/research/payloads/intent.ts'

const RUN = `run_${'0'.repeat(26)}`
const filled = (maxLength: number) => fc.string({ minLength: 1, maxLength }).filter((text) => text.trim() !== '')
const question = fc.record(
  {
    topic: filled(200),
    hints: fc.option(fc.dictionary(filled(20), filled(40), { maxKeys: 5 })),
    budget_tokens: fc.option(fc.nat(100_000)),
    max_iterations: fc.option(fc.nat(50)),
  },
  { requiredKeys: ['topic'] },
)

const besides = fc.record(
  { parent_loop: filled(40), embeddings_weight: fc.double({ min: 0, max: 1, noNaN: true }) },
  { requiredKeys: [] },
)

describe('askedIntent()', () => {
  test('makes of every question a door lets in an Intent with resolved bounds, and the same bytes each time', () => {
    fc.assert(
      fc.property(question, besides, (given, beside) => {
        const read = QuestionSchema.parse(given)
        const { asked, text, hash } = pinIntent(read, beside)
        expect(readPayload(intentKind, asked.intent).ok).toBe(true)
        expect(AskedIntentSchema.parse(JSON.parse(text))).toEqual(asked)
        expect(asked.intent).toMatchObject({
          budget_tokens: given.budget_tokens || 4_000,
          max_iterations: given.max_iterations || 5,
        })
        expect(pinIntent(read, beside).hash).toBe(hash)
      }),
      { numRuns: 100 },
    )
  })

  test('makes nothing of absent, null and empty hints', () => {
    const of = (more: object) => pinIntent(QuestionSchema.parse({ topic: 't', ...more })).hash
    expect(
      new Set([of({}), of({ hints: null }), of({ hints: {} }), of({ budget_tokens: 0 }), of({ max_iterations: 5 })])
        .size,
    ).toBe(1)
    expect(of({ hints: { zone: 'n' } })).not.toBe(of({}))
  })

  test('the longest question a door lets in has room in its loop entity', () => {
    const long = (n: number) => 'é'.repeat(n)
    const { topic_characters, hints, hint_key_characters, hint_value_characters, parent_loop_characters } = ASKED_LIMITS
    const many = Array.from({ length: hints }, (_, i) => [
      `${i}`.padEnd(hint_key_characters, 'é'),
      long(hint_value_characters),
    ])
    const { intent } = pinIntent(
      QuestionSchema.parse({ topic: long(topic_characters), hints: Object.fromEntries(many) }),
    ).asked
    const entity_id = loopEntityId('main', RUN)
    const at = '2026-01-01T00:00:00.000Z'
    const triples = kickoffTriples(entity_id, intent, { at, parent_loop: long(parent_loop_characters) })
    expect(EntitySchema.safeParse({ entity_id, triples: [...triples] }).success).toBe(true)
    expect(Buffer.byteLength(JSON.stringify(triples))).toBeLessThan(ENTITY_LIMITS.json_bytes / 1.2)
    const objects = triples.map(({ object }) => String(object).length)
    expect(Math.max(...objects)).toBeLessThanOrEqual(ENTITY_LIMITS.object_characters)
  })
})
