import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kindsGraph } from '../../bench/research/kinds-graph.ts'
import { KIND_QUESTIONS } from '../../bench/research/kinds-questions.ts'
import { openAnswerPlace } from '../../bench/research/open-answer-place.ts'
import { judgeKind, type KindVerdict } from '../../bench/research/print-kinds.ts'

let folder: string
let place: Awaited<ReturnType<typeof openAnswerPlace>>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-kinds-'))
  mkdirSync(join(folder, 'data'))
  place = await openAnswerPlace(join(folder, 'data'))
  await place.import(kindsGraph())
  await place.index()
})

afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

const lines = async (topic: string) => ((await place.answer(topic)).result?.synthesis ?? '').split('\n')

describe('questions of many kinds', () => {
  test('no answer is wrong, and three of four are right', async () => {
    const verdicts: { readonly text: string; readonly verdict: KindVerdict }[] = []
    for (const question of KIND_QUESTIONS) {
      const { result } = await place.answer(question.text)
      verdicts.push({ text: question.text, verdict: judgeKind(question, result?.synthesis ?? '') })
    }
    expect(verdicts.filter(({ verdict }) => verdict === 'wrong').map(({ text }) => text)).toEqual([])
    expect(verdicts.filter(({ verdict }) => verdict === 'right').length / verdicts.length).toBeGreaterThanOrEqual(0.75)
  })

  test('what is counted is a number, and what is cut is said', async () => {
    const [first = '', ...more] = await lines('How many airports are in Norland?')
    expect(first).toMatch(/^47 airports; the first 24 are: Aldal Airport \[\d+\], /)
    expect(more).toContain('Note: 52 of type airport were looked at.')
    const { result } = await place.answer('How many airports are in Norland?')
    expect(result?.answers).toBe('yes')
    expect(result?.sentences?.every(({ status }) => status !== 'unsupported')).toBe(true)
  })

  test('other things of the same year are named, without the one that was named', async () => {
    const [first = ''] = await lines('Radium was discovered in 1898. Which other elements were discovered in 1898?')
    expect(first.replace(/ \[\d+\]/g, '')).toBe('4 elements: Krypton, Neon, Polonium, Xenon.')
  })

  test('a negation is never answered by what it denies', async () => {
    expect((await lines('Which companies have no founder?')).slice(0, 2)).toEqual([
      'No answer found in the graph for: Which companies have no founder?',
      expect.stringMatching(/^Note: not answered: the question has a negation/),
    ])
    const [first = ''] = await lines('Which countries do not border Norland?')
    expect(first.replace(/ \[\d+\]/g, '')).toBe('2 countries: Ilmar, Sudra.')
  })

  test('passages that may answer are no answer, and count as what they are', async () => {
    const { result, degraded } = await place.answer('Who led the Petrel and the Halvard expedition to the coast?')
    expect(result?.synthesis).toMatch(
      /^No answer found in the graph for: .*\n(?:Note: .*\n)*Note: passages that may answer it:\n“/,
    )
    expect(result?.answers).toBe('maybe')
    expect(degraded).toContain('nothing found is known to answer the question; passages that may answer it are shown')
  })

  test.each(['The Lumen reactor', 'Who designed the Lumen reactor?'])(
    '%s: evidence has its ref, and its preview is the passage',
    async (topic) => {
      const { result } = await place.answer(topic)
      const item = result?.evidence?.find(({ entity_id }) => entity_id.endsWith('the-lumen-reactor'))
      expect(item?.objectstore_ref).toMatch(/^objstore:\/\/main\/[0-9a-f]{64}$/)
      expect(item?.snippet_text).toMatch(/Lumen reactor was built in Ostburg|designed by Tomas Verrell/)
    },
  )

  test('where there is no body, the preview says what is stated, not the type', async () => {
    const { result } = await place.answer('What is the birthplace of Marie Curie?')
    const item = result?.evidence?.find(({ entity_id }) => entity_id.endsWith('marie-curie'))
    expect(item?.snippet_text).toMatch(/^Marie Curie, (?:born|died|birthplace): /)
  })
})
