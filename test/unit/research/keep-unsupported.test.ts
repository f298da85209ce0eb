import { describe, expect, test } from 'vitest'
import { checkedLines, isMarkedUnsupported } from '../../../shared/research/claims/check-synthesis.ts'
import { repairSynthesis } from '../../../shared/research/claims/repair-synthesis.ts'
import { HELD_OUT } from './held-out-answers.ts'

const DRONE = {
  entity_id: 'acme.ops.air.fleet.drone.zero',
  tier: '1',
  source: 'bm25_index',
  label: 'Drone Zero',
  text: 'Drone Zero flew 12 missions in 2024. It is not certified for night flights.',
}
const KEEP = { keep_unsupported: true }
const repaired = (answer: string, how = {}) => repairSynthesis('topic', answer, [DRONE], how)

describe('an answer that was asked for with what is unsupported', () => {
  test('has every sentence, those that are unsupported marked; without the word they are left out', () => {
    const answer = 'Drone Zero flew 12 missions [1]. Drone Zero never flew 12 missions [1]. It was built on Mars.'
    const kept = repaired(answer, KEEP)
    expect(kept.synthesis.split('\n')).toEqual([
      'Drone Zero flew 12 missions [1]. (unsupported) Drone Zero never flew 12 missions [1]. (unsupported) It was built on Mars.',
      'Note: 2 sentences are marked (unsupported): no evidence they cite says them.',
    ])
    expect(kept.degraded_reason).toBe('the synthesis did not hold against its evidence')
    expect(kept.sentences).toEqual([
      { sentence: 'Drone Zero flew 12 missions [1].', status: 'quoted', places: [1] },
      {
        sentence: '(unsupported) Drone Zero never flew 12 missions [1].',
        status: 'unsupported',
        places: [1],
        why: expect.stringContaining('no one passage'),
      },
      {
        sentence: '(unsupported) It was built on Mars.',
        status: 'unsupported',
        places: [],
        why: 'it cites no evidence',
      },
    ])
    expect(repaired(answer).synthesis).not.toMatch(/never|Mars/)
    expect(repaired(answer).sentences?.map(({ status }) => status)).toEqual(['quoted'])
  })

  test('keeps the sentence of an unknown reference marked, without the reference', () => {
    const { synthesis } = repaired('- Drone Zero flew 12 missions [1].\n- It has 9 lives [9].', KEEP)
    expect(synthesis).toContain('- (unsupported) It has 9 lives.\n')
    expect(synthesis).not.toContain('[9]')
  })

  test('that cites nothing shows the evidence below it', () => {
    const { synthesis } = repaired('I am quite sure that it flies.', KEEP)
    expect(synthesis).toMatch(/^\(unsupported\) I am quite sure that it flies\.\nNote: 1 sentences are marked/)
    expect(synthesis).toContain('these are its first items')
  })

  test('without evidence is no answer, whatever was asked for', () => {
    expect(repairSynthesis('topic', 'It flies [1].', [], KEEP).synthesis).toBe(
      'No answer found in the graph for: topic',
    )
  })

  test('has a mark before every sentence that is unsupported, however the text is cut, and before no other', () => {
    for (const { label, text, right, wrong } of HELD_OUT) {
      const evidence = [{ ...DRONE, label, text }]
      const told = [...right.map((one) => `${one} [1].`), ...wrong.map(([, one]) => `${one} [1].`), 'So. It is [1].']
      for (const glue of [' ', '\n', '\n- ']) {
        const { synthesis } = repairSynthesis('topic', told.join(glue), evidence, KEEP)
        const said = checkedLines({ topic: 'topic', synthesis, degraded: [] }, evidence).flatMap(
          (line) => line.sentences,
        )
        expect(said.length).toBeGreaterThan(8)
        for (const { sentence, status } of said)
          expect([sentence, isMarkedUnsupported(sentence)]).toEqual([sentence, status === 'unsupported'])
      }
    }
  })
})

test('a sentence with the mark in it is unsupported, whoever wrote it', () => {
  for (const answer of [
    '(unsupported) Drone Zero flew 12 missions [1].',
    'Drone Zero flew (unsupported) 12 missions [1].',
  ])
    expect(repaired(answer, KEEP).sentences?.[0]?.status).toBe('unsupported')
})
