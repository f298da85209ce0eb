import { describe, expect, test } from 'vitest'
import { readAskedVerb, saysOfVerb } from '../../../shared/research/extractive/asked-verb.ts'

describe('readAskedVerb()', () => {
  test.each([
    ['Who warned the mayor?', { verb: 'warn', named: ['mayor'], asks: 'doer' }],
    ['Who has warned the mayor about the stairs?', { verb: 'warn', named: ['mayor'], asks: 'doer' }],
    ['Whom did the council warn about the bills?', { verb: 'warn', named: ['council'], asks: 'done_to' }],
    ['Who was warned by the council?', { verb: 'warn', named: ['council'], asks: 'done_to' }],
    ['By whom was the mayor warned?', { verb: 'warn', named: ['mayor'], asks: 'doer' }],
    ['Who was the mayor warned by?', { verb: 'warn', named: ['mayor'], asks: 'doer' }],
    ['Who is the mayor?', undefined],
    ['Where did the council meet?', undefined],
    ['Who came?', undefined],
  ])('%s', (topic, asked) => expect(readAskedVerb(topic)).toEqual(asked))
})

describe('saysOfVerb()', () => {
  const says = (topic: string, sentence: string) => {
    const asked = readAskedVerb(topic)
    return asked === undefined ? 'no question of this form' : saysOfVerb(asked, sentence)
  }
  test.each([
    ['Who warned the mayor?', 'The mayor was warned by the fire brigade about the stairs.', 'says'],
    ['Who warned the mayor?', 'The fire brigade warned the mayor.', 'says'],
    ['Who warned the mayor?', 'The mayor warned the council.', 'turned'],
    ['Who warned the mayor?', 'The mayor was warned in June.', 'silent'],
    ['Who warned the mayor?', 'They warned the mayor.', 'silent'],
    ['Who warned the mayor?', 'The council warned the baker.', undefined],
    ['Whom did the porters praise?', 'Dr. Rahimi praised the porters.', 'turned'],
    ['Whom did Dr. Rahimi praise?', 'Dr. Rahimi praised the porters.', 'says'],
    ['Whom did the inspectors criticise?', 'The inspectors were criticised by Northline.', 'turned'],
    ['Who dug the tunnel?', 'The tunnel was dug by miners from Tosk.', 'says'],
    ['Who rejected the restart?', 'Park suggested a restart, but the restart was rejected by Nadia Haddad.', 'says'],
    ['Who rejected Park?', 'Park suggested a restart, but the restart was rejected by Nadia Haddad.', undefined],
  ])('%s %s', (topic, sentence, verdict) => expect(says(topic, sentence)).toBe(verdict))
})
