import { describe, expect, test } from 'vitest'
import { extractiveAnswer } from '../../../shared/research/extractive/model.ts'

const id = (type: string, name: string) => `acme.test.granted.mill.${type}.${name.toLowerCase().replace(/\W+/g, '-')}`

const report = (label: string, text: string) => ({ entity_id: id('report', label), label, text, facts: [] })

const MILL = [
  report(
    'The collapse of Orrin Mill',
    'Orrin Mill collapsed in the spring of 1911. Its bell was never found. Two of her millers were pulled out by neighbours.',
  ),
  report('The founding of the guild', 'The guild was founded in 1790 by Ann Holt. Per Holt ran it.'),
  report(
    'The wheel',
    'The wheel was drawn by Greta Lund, a niece of Ivo Lund, in 1802. The wheel house was lit by gas until 1960. The sluice closes at noon. Millers oil the wheel. Millers of more than 60 years do not climb it. Ida Moe was awarded the Cross of Tarn. Nils Rud awarded the Star of Tarn. The geese are looked after by Ida Moe. A cart horse, Bjarn, pulls the carts.',
  ),
  report(
    'The forge',
    'It was replaced by a steam hammer in 1899. The steam hammer is large. The forge was heated by charcoal until 1870. Nails are made by hand each winter. The forge was lit for the first time in 1701. The fair lasts two days. Many smiths left.',
  ),
  report('The carter', 'He hauled forty sacks. His face was hidden.'),
]

const said = (topic: string, evidence: Parameters<typeof extractiveAnswer>[1] = MILL) =>
  extractiveAnswer(topic, evidence).split('\n').slice(0, -1)
const why = (topic: string, evidence?: Parameters<typeof extractiveAnswer>[1]) => said(topic, evidence).slice(0, 2)
const refused = (topic: string, reason: string) => [
  `No answer found in the graph for: ${topic}`,
  `Note: not answered: ${reason}.`,
]

describe('what a question takes for granted, and what was found', () => {
  test.each([
    ['Did Orrin Mill collapse?', '“Orrin Mill collapsed in the spring of 1911.” [1]'],
    ['Who founded the guild?', '“The guild was founded in 1790 by Ann Holt.” [2]'],
    ['When was the wheel drawn?', '“The wheel was drawn by Greta Lund, a niece of Ivo Lund, in 1802.” [3]'],
    ['When did Greta Lund draw the wheel?', '“The wheel was drawn by Greta Lund, a niece of Ivo Lund, in 1802.” [3]'],
    ['How was the wheel house lit?', '“The wheel house was lit by gas until 1960.” [3]'],
    ['Who looks after the geese?', '“The geese are looked after by Ida Moe.” [3]'],
    ['When was the forge replaced?', '“It was replaced by a steam hammer in 1899.” [4]'],
    ['What pulls the carts?', '“A cart horse, Bjarn, pulls the carts.” [3]'],
    ['Who was awarded the Cross of Tarn?', '“Ida Moe was awarded the Cross of Tarn.” [3]'],
  ])('a sentence that says it itself, not below a title that does: %s', (topic, line) => {
    expect(said(topic)).toEqual([line])
  })

  test('the title of a text alone says nothing', () => {
    const [text] = [report('The burning of Orrin Mill', 'Its bell was never found.')]
    expect(why('Did Orrin Mill burn?', [text])).toEqual(
      refused('Did Orrin Mill burn?', 'what was found has the words in its title and does not say it'),
    )
  })

  test('who else did it did not do it', () => {
    const topic = 'When did Ivo Lund draw the wheel?'
    expect(why(topic)).toEqual(refused(topic, 'what was found says that somebody else did it'))
  })

  test.each(['How is the wheel house lit?', 'When was the sluice closed?'])(
    'what was, and what is each day, are two times: %s',
    (topic) => expect(why(topic)).toEqual(refused(topic, 'what was found says it of another time')),
  )

  test.each(['Who lit the wheel house?', 'What hauled the carter?', 'Which millers oil the wheel?'])(
    'a means does nothing, a pronoun names nobody, and all of them are not which: %s',
    (topic) => expect(said(topic)[0]).toMatch(/^No answer/),
  )

  test.each([
    ['When was the steam hammer replaced?', 'what was found says the relation the other way round'],
    ['What heats the forge?', 'what was found says it of another time'],
    ['Who makes the nails?', 'what was found is not of the kind the question asks for'],
    ['Which smith left?', 'what was found is not of the kind the question asks for'],
    ['What does the steam hammer use?', 'what was found is not of the kind the question asks for'],
    ['What did the steam hammer do?', 'what was found is not of the kind the question asks for'],
  ])('%s', (topic, reason) => expect(why(topic)).toEqual(refused(topic, reason)))

  test('the last time is not the first, and not what lasts', () => {
    expect(said('When was the forge last lit?')[0]).toMatch(/^No answer/)
    expect(said('When did the forge last open?')[0]).toMatch(/^No answer/)
  })

  test('sentences are put together only where they stand together', () => {
    const [first = ''] = said('Orrin', [report('Orrin', '1.5 -5St. 。Orrin is old.')])
    expect(first).toBe('“Orrin is old.” [1]')
  })

  test('who gave it is not who was given it', () => {
    expect(said('Who was awarded the Star of Tarn?')[0]).toMatch(/^No answer/)
  })

  test('what more is asked of a name than what it is, is not all that is known of it', () => {
    expect(said('What is the carter?')).toEqual(['“He hauled forty sacks.” [5]', '“His face was hidden.” [5]'])
    expect(said('What was the name of the carter?')[0]).toMatch(/^No answer/)
  })

  test('a denial that was found is not told as a negation of the question', () => {
    const topic = 'When was the bell of Orrin Mill found?'
    expect(why(topic)).toEqual(refused(topic, 'what was found denies something, and the question does not'))
  })

  const MASTERS = ['Ann Holt', 'Per Holt', 'Ann Holt']
  const MILLS = ['Upper Mill', 'Lower Mill', 'Old Mill'].map((label, at) => ({
    entity_id: id('mill', label),
    label,
    facts: [
      { predicate: 'x.built', object: `${1780 + at}-03-30` },
      { predicate: 'x.state', object: 'working' },
      { predicate: 'x.stones', object: '4' },
      { predicate: 'x.built_by', object: MASTERS[at] ?? '', object_id: id('person', MASTERS[at] ?? '') },
    ],
  }))

  test.each(['Are all mills working?', 'Is there a mill with more than 30 stones?'])(
    'some that were found do not answer for all, nor a number that stands anywhere: %s',
    (topic) => expect(said(topic, MILLS)[0]).toMatch(/^No answer/),
  )

  test('who built it is answered by who did, not by when', () => {
    const people = ['Ann Holt', 'Per Holt'].map((label) => ({ entity_id: id('person', label), label, facts: [] }))
    expect(said('Was the Upper Mill built by Per Holt?', [...MILLS, ...people])).toEqual([
      'Upper Mill, built by: Ann Holt [1].',
      'Note: what was asked about is not among what is stated there.',
    ])
  })

  test('of several that are asked for, one that was found is not all', () => {
    expect(said('Which mills are working?', MILLS.slice(0, 1))).toEqual([
      'Upper Mill, state: working [1].',
      'Note: only the evidence found was looked at; more may fit.',
    ])
  })

  test('whom asks for whom it was done to', () => {
    const pupils = [
      ['Ida Moe', 'Nils Rud'],
      ['Nils Rud', 'Per Holt'],
      ['Per Holt', ''],
    ].map(([label = '', by = '']) => ({
      entity_id: id('miller', label),
      label,
      facts: by === '' ? [] : [{ predicate: 'x.trained_by', object: by, object_id: id('miller', by) }],
    }))
    expect(said('Whom trained Nils Rud?', pupils)).toEqual(['Ida Moe, trained by: Nils Rud [1].'])
    expect(said('Who trained Nils Rud?', pupils)).toEqual(['Nils Rud, trained by: Per Holt [2].'])
  })
})
