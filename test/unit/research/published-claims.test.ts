import { describe, expect, test } from 'vitest'
import { checkSynthesis } from '../../../shared/research/claims/check-synthesis.ts'
import { repairSynthesis } from '../../../shared/research/claims/repair-synthesis.ts'

const DRONE = {
  entity_id: 'acme.ops.air.fleet.drone.zero',
  tier: '1',
  source: 'bm25_index',
  label: 'Drone Zero',
  text: [
    'Drone Zero flew 12 missions in 2024.',
    'It has a range of 40 km and carries two cameras.',
    'It is not certified for night flights.',
    'Ana Ruiz, who joined in 2019, leads the flight team.',
    'Acme bought Beta in 2021.',
    'The battery may fail below 5 degrees.',
    'According to the maker, the rotor lasts 900 hours.',
    'If it rains, flights are cancelled.',
    'At least 30 pilots were trained.',
    'Most flights started before noon.',
    'It is false that the drone was lost at sea.',
    "The pilot's licence expired in May.",
    'Revenue rose to 5 million euros.',
    'The hangar in Lund holds 14 aircraft, and the hangar in Bergen holds 9 aircraft.',
  ].join(' '),
  facts: [
    { predicate: 'air.drone.operator', object: 'Acme' },
    { predicate: 'air.drone.home_base', object: 'Lund' },
  ],
}

const statusOf = (claim: string) => checkSynthesis('topic', `${claim} [1].`, [DRONE])[0]?.status

describe('a sentence is kept that says what its evidence says', () => {
  test.each([
    ['Drone Zero flew 12 missions in 2024', 'quoted'],
    ['“Drone Zero flew 12 missions in 2024.”', 'quoted'],
    ['The report says: “It is not certified for night flights.”', 'quoted'],
    ['Drone Zero flew twelve missions in 2024', 'quoted'],
    ['In 2024, Drone Zero flew 12 missions', 'supported'],
    ['Drone Zero flew 12 missions', 'quoted'],
    ['Drone Zero has a range of 40 kilometres', 'supported'],
    ['Drone Zero is not certified for night flights', 'supported'],
    ["Drone Zero isn't certified for night flights", 'supported'],
    ['Ana Ruiz leads the flight team', 'supported'],
    ['Acme bought Beta', 'quoted'],
    ['The battery may fail below 5 degrees', 'quoted'],
    ['According to the maker, the rotor lasts 900 hours', 'quoted'],
    ['Flights are cancelled if it rains', 'unsupported'],
    ['At least 30 pilots were trained', 'quoted'],
    ["The pilot's licence expired in May", 'quoted'],
    ['Revenue rose to 5,000,000 euros', 'quoted'],
    ['The hangar in Bergen holds 9 aircraft', 'quoted'],
    ["Drone Zero's home base is Lund", 'supported'],
    ['The operator of Drone Zero is Acme', 'supported'],
    ['Acme is the operator of Drone Zero', 'supported'],
  ])('%s: %s', (claim, status) => expect(statusOf(claim)).toBe(status))
})

describe('a sentence is not published that says something else', () => {
  test.each([
    'Drone Zero never flew 12 missions',
    'Drone Zero did not fly 12 missions in 2024',
    'Drone Zero flew 12 missions in 2023',
    'Drone Zero flew 13 missions in 2024',
    'Drone One flew 12 missions in 2024',
    'Drone Zero has a range of 40 miles',
    'Drone Zero has a range of 40 m',
    'Drone Zero carries 40 cameras',
    'Drone Zero is certified for night flights',
    'Beta bought Acme in 2021',
    'Acme sold Beta in 2021',
    'The battery fails below 5 degrees',
    'The battery may fail above 5 degrees',
    'The rotor lasts 900 hours',
    'Flights are cancelled',
    'At most 30 pilots were trained',
    '30 pilots were trained',
    'All flights started before noon',
    'Most flights started after noon',
    'The drone was lost at sea',
    '“the drone was lost at sea”',
    '“certified for night flights”',
    'The pilot expired in May',
    'Revenue rose by 5 million euros',
    'Revenue rose to 5 thousand euros',
    'Revenue rose to 5 million dollars',
    'Revenue fell to 5 million euros',
    'The hangar in Lund holds 9 aircraft',
    'Ana Ruiz joined in 2024',
    'Ben Ruiz leads the flight team',
    'Ana Ruiz led no flight team',
    'Drone Zero is the operator of Acme',
    "Drone Zero's operator is Lund",
    'Drone Zero lacks a range of 40 km',
    'Drone Zero flew 12 missions without a camera',
  ])('%s', (claim) => expect(statusOf(claim)).toBe('unsupported'))
})

test('a sentence that cites nothing does not leave, nor what only an unknown reference stood for', () => {
  const answer =
    'Drone Zero flew 12 missions [1]. It was built on Mars. It has 9 lives [9]. Drone Zero never flew 12 missions [1].'
  const { synthesis, degraded_reason } = repairSynthesis('topic', answer, [DRONE])
  expect(synthesis.split('\n')).toEqual([
    'Drone Zero flew 12 missions [1].',
    'Note: 1 references were taken out: they name no evidence.',
    'Note: 3 sentences were taken out: the evidence they cite does not say them.',
  ])
  expect(degraded_reason).toBeDefined()
})

test.each(['‘', '‹', '「', '『', '&quot;', '&ldquo;', '`', "'"])('a quotation in %s is held word for word', (mark) => {
  const close = { '‘': '’', '‹': '›', '「': '」', '『': '』', '&ldquo;': '&rdquo;' }[mark] ?? mark
  const quoting = (words: string) => checkSynthesis('topic', `${mark}${words}${close} [1].`, [DRONE])[0]
  expect(quoting('Drone Zero flew 12 missions')?.status).toBe('quoted')
  expect(quoting('Drone Zero flew 12 sorties')?.bad_quotes).toHaveLength(1)
})
