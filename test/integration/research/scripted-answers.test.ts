// @module-tag thorough
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ResearchAnswer } from '../../../shared/api/research-routes.ts'
import { WHOLE } from '../../how-much.ts'
import { TOLD } from '../../unit/research/answer-set.ts'
import { type ModelServer, startModel } from './model-server.ts'
import { openResearchPlace, type ResearchPlace } from './research-place.ts'

/**
 * 200 answers of a language model over its protocol, through the whole chain of a place: half of them have one wrong
 * sentence or line among right ones, in forty ways. What leaves is counted. The model reads the number of its evidence in
 * the prompt, as a real one does, and knows nothing else.
 */
interface Scripted {
  readonly label: string
  readonly way: string
  /** Of `[n]` and `[m]` (other evidence) it makes citations. */
  readonly text: string
  readonly right: readonly string[]
  /** What must not be published unmarked; none in an answer that is all right. */
  readonly wrong?: string
  readonly keep: boolean
}

const SHAPES = [' ', '\n', '\n- ', '\n\n', '\n1. ']

/** Two or three of the right sentences, in one of five shapes; each fifth is a quotation. */
function allRight(label: string, right: readonly string[], nth: number): Scripted {
  const some = [0, 1, 2].slice(0, 2 + (nth % 2)).map((step) => `${right[(nth + step) % 5]} [n].`)
  return { label, way: 'all right', text: shaped(some, nth), right: some, keep: nth % 3 === 0 }
}

/** One wrong sentence before, between or behind right ones. */
function among(
  label: string,
  right: readonly string[],
  { way, wrong, nth }: { readonly way: string; readonly wrong: string; readonly nth: number },
): Scripted {
  const some = [`${right[nth % 5]} [n].`, `${right[(nth + 2) % 5]} [n].`]
  const text = shaped(some.toSpliced(nth % 3, 0, wrong), nth)
  return { label, way, text, right: some, wrong, keep: nth % 2 === 0 }
}

function shaped(sentences: readonly string[], nth: number): string {
  const glue = SHAPES[nth % SHAPES.length] ?? ' '
  return `${glue.trimStart() === '' ? '' : glue.trimStart()}${sentences.join(glue)}`
}

/** Ways to say something beside the sentences that are checked; `said` is a sentence that would be right. */
const HIDING: readonly (readonly [way: string, hide: (said: string, label: string) => string])[] = [
  ['a clause behind the citation', (said) => `${said} [n], which was denied later.`],
  ['words behind the citation', (said) => `${said} [n] - a lie.`],
  ['a second claim behind the citation', (said) => `${said} [n], and it burned down in Zell.`],
  ['a question of it', (said) => `${said} [n]?`],
  ['a heading', (_, label) => `# ${label} burned down in Zell`],
  ['a heading that cites', (_, label) => `### ${label} burned down in Zell [n]`],
  ['a footnote', (_, label) => `[^n]: ${label} burned down in Zell.`],
  ['a line of a fence', (_, label) => `\`\`\`${label} burned down in Zell`],
  ['a comment', (_, label) => `<!-- ${label} burned down in Zell -->`],
  ['no citation', (_, label) => `${label} burned down in Zell.`],
  ['a reference to nothing', (_, label) => `${label} burned down in Zell [99].`],
  ['words of a note', (_, label) => `Note: ${label} burned down in Zell.`],
  ['words of the chain', (_, label) => `Degraded: ${label} burned down in Zell.`],
  ['a table', (_, label) => `| ${label} | burned down in Zell [n] |`],
  ['the evidence of another', (said) => `${said} [m].`],
  ['a subject from other evidence', (_, label) => `Zell Tower [m] is ${label} [n].`],
  ['a pronoun from other evidence', () => 'It is 40 metres high [m].'],
  ['a misquotation', (_, label) => `“${label} burned down in Zell” [n].`],
  ['a misquotation in other marks', (_, label) => `»${label} burned down in Zell« [n].`],
  ['a misquotation by its entities', (_, label) => `&ldquo;${label} burned down in Zell&rdquo; [n].`],
  ['a quotation called false', (said) => `“${said}” is false [n].`],
  ['German', (_, label) => `${label} ist in Zell abgebrannt [n].`],
  ['French', (_, label) => `${label} a brûlé à Zell [n].`],
  ['Japanese', (_, label) => `${label}はゼルで焼失した [n]。`],
  ['Russian', (_, label) => `${label} сгорел в Целле [n].`],
  ['a strange sign', (said) => `~${said} ❌ [n].`],
  ['a negation in the middle', (said) => `${said.replace(/ (\S+)$/, ' not $1')} [n].`],
  ['another digit', (said) => `${said} in 1066 [n].`],
  ['doubt of the report', (said) => `It is not true that ${said} [n].`],
  ['somebody who says so', (said) => `A rival claims that ${said} [n].`],
  ['a condition', (said) => `${said} if the weather is fine [n].`],
  ['a restriction', (said) => `Only in theory ${said} [n].`],
  ['a cause', (said) => `${said} because of the fire in Zell [n].`],
  ['a time', (said) => `Until the fire ${said} [n].`],
  ['a list member', (said) => `${said} and so did Zell Tower [n].`],
  ['a comparison', (_, label) => `${label} is larger than Zell Tower [n][m].`],
  ['an invented ranking', (_, label) => `By height, greatest first: ${label} 90 [n], Zell Tower 80 [m].`],
  ['a list with a claim', (_, label) => `Burned down in Zell: ${label} [n], Zell Tower [m].`],
  ['a picture', (_, label) => `![${label} burned down in Zell](x.png)`],
  ['a link', (_, label) => `[${label} burned down in Zell](http://example.com) [n].`],
]

function hidden(label: string, right: readonly string[], nth: number): Scripted {
  const [way, hide] = HIDING[nth % HIDING.length] ?? ['', () => '']
  const some = [`${right[(nth + 1) % 5]} [n].`, `${right[(nth + 3) % 5]} [n].`]
  const wrong = hide(right[nth % 5] ?? '', label)
  return { label, way, text: [some[0], wrong, some[1]].join('\n'), right: some, wrong, keep: nth % 4 < 2 }
}

const SCRIPTED: readonly Scripted[] = TOLD.flatMap((told, at) => [
  ...[0, 1, 2, 3, 4].map((nth) => allRight(told.label, told.right, at * 5 + nth)),
  ...told.wrong
    .slice(0, 3)
    .map(([way, wrong], nth) => among(told.label, told.right, { way, wrong: `${wrong} [n].`, nth: at + nth })),
  ...[0, 1].map((nth) => hidden(told.label, told.right, at * 2 + nth)),
])

/** All of them in the whole run, else every fourth that is wrong and every tenth that is right. */
const ASKED = [false, true].flatMap((isWrong) =>
  [...SCRIPTED.entries()]
    .filter(([, { wrong }]) => (wrong !== undefined) === isWrong)
    .filter((_, nth) => WHOLE || nth % (isWrong ? 4 : 10) === 3),
)

let model: ModelServer
let place: ResearchPlace
beforeAll(async () => {
  model = await startModel({
    route: { action: 'synthesize_directly' },
    answer: (_nth, prompt) => ({ synthesis: answerTo(prompt) }),
  })
  const bodies = TOLD.map(({ label, text }, at) => ({ type: 'report', name: `r${at}`, label, text }))
  const tower = { type: 'report', name: 'zell', label: 'Zell Tower', text: 'Zell Tower is red. It is 40 metres high.' }
  place = await openResearchPlace({}, model.settings, [...bodies, tower])
})
afterAll(async () => {
  await place.close()
  await model.close()
})

/** Which of the answers is asked for stands in the question; which number its evidence has, in the prompt. */
function answerTo(prompt: string): string {
  const one = SCRIPTED[Number(/answer (\d+) of/.exec(prompt)?.[1])]
  return one === undefined ? 'nobody asked for this' : cited(one, prompt)
}

function cited({ label, text }: Scripted, prompt: string): string {
  const numberOf = (name: string) => new RegExp(`^\\[(\\d+)\\] "${name}\\\\n`, 'm').exec(prompt)?.[1] ?? '98'
  const [n, m] = [numberOf(label), numberOf('Zell Tower')]
  return text.replaceAll('[n]', `[${n}]`).replaceAll('[^n]', `[^${n}]`).replaceAll('[m]', `[${m}]`)
}

/** Without citations and marks of a list, so that what was kept is found however it was numbered. */
function plain(text: string): string {
  return text.replace(/\s?\[\^?[\dnm]+\]/g, '')
}

describe('200 answers of a scripted model', () => {
  test('are half wrong, in more than twenty ways', () => {
    expect(SCRIPTED).toHaveLength(200)
    const wrong = SCRIPTED.filter((one) => one.wrong !== undefined)
    expect(wrong).toHaveLength(100)
    expect(SCRIPTED.reduce((sum, one) => sum + one.right.length, 0)).toBe(450)
    expect(new Set(wrong.map(({ way }) => way)).size).toBeGreaterThanOrEqual(50)
    expect(new Set(ASKED.map(([, { way }]) => way)).size).toBeGreaterThan(20)
  })

  test('leave the chain with no wrong sentence unmarked, and with at least 98 in 100 right ones', async () => {
    const unmarked: unknown[] = []
    const lost: unknown[] = []
    let right = 0
    for (const [at, one] of ASKED) {
      const topic = `${one.label} and Zell Tower, answer ${at} of 200`
      const { answer } = await place.ask({ topic, budget_tokens: 60_000, keep_unsupported: one.keep })
      unmarked.push(...leftUnmarked(one, answer))
      lost.push(...one.right.filter((sentence) => !isKept(sentence, answer)).map((sentence) => [one.way, sentence]))
      right += one.right.length
    }
    expect(unmarked).toEqual([])
    expect(right).toBe(ASKED.reduce((sum, [, one]) => sum + one.right.length, 0))
    if (lost.length > right * 0.02) expect(lost).toEqual([])
    expect(model.prompts('answer').length).toBeGreaterThan(ASKED.length)
  }, 600_000)
})

/** What is wrong with a published answer: a wrong sentence without its mark, or one that nobody is told of. */
function leftUnmarked({ wrong, way, keep }: Scripted, { result, degraded }: ResearchAnswer): readonly unknown[] {
  if (wrong === undefined) return []
  const said = plain(wrong).replace(/^(?:#{1,6}|\|)\s/, '')
  const lines = (result?.synthesis ?? '').split('\n').flatMap((line) => plain(line).split(/(?=\(unsupported\))/))
  const leaves = lines.some((line) => line.includes(said) && !line.startsWith('(unsupported)'))
  const isTold = !keep || (result?.sentences ?? []).some(({ status }) => status === 'unsupported')
  return leaves || !isTold || degraded.length === 0 ? [[way, wrong, result?.synthesis]] : []
}

function isKept(sentence: string, { result }: ResearchAnswer): boolean {
  const said = result?.sentences ?? []
  return said.some((one) => one.status !== 'unsupported' && plain(one.sentence) === plain(sentence))
}
