import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kindsGraph } from './kinds-graph.ts'
import { KIND_QUESTIONS, type KindQuestion } from './kinds-questions.ts'
import { openAnswerPlace } from './open-answer-place.ts'

/** `right`: the answer, or a refusal where nothing answers; `honest`: a refusal where something would; `wrong`: the rest. */
export type KindVerdict = 'right' | 'honest' | 'wrong'

/** How an answer stands to the question: what follows `No answer` answers nothing. */
export function judgeKind({ says, never = [] }: KindQuestion, synthesis: string): KindVerdict {
  const isRefused = /^No answer/.test(synthesis)
  const isWrong = !isRefused && never.some((word) => synthesis.includes(word))
  if (isRefused) return says.length === 0 ? 'right' : 'honest'
  return !isWrong && says.length > 0 && says.every((word) => saysWord(synthesis, word)) ? 'right' : 'wrong'
}

/** A number is not part of a longer one, nor of a citation. */
function saysWord(synthesis: string, word: string): boolean {
  const plain = synthesis.replace(/\[[^\]]*\]/g, '')
  return /^\d+$/.test(word) ? new RegExp(`(?<!\\d)${word}(?!\\d)`).test(plain) : plain.includes(word)
}

/** Each question of kinds-questions.ts through the whole chain of a local place with the extractive model. */
export async function printKinds(print: (line: string) => void): Promise<void> {
  print(`\nKinds of questions: ${KIND_QUESTIONS.length} questions, the extractive model`)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  mkdirSync(join(folder, 'data'))
  const place = await openAnswerPlace(join(folder, 'data'))
  try {
    await place.import(kindsGraph())
    await place.index()
    const verdicts: { readonly kind: string; readonly half: number; readonly verdict: KindVerdict }[] = []
    for (const [at, question] of KIND_QUESTIONS.entries()) {
      const { result } = await place.answer(question.text)
      const synthesis = result?.synthesis ?? ''
      const verdict = judgeKind(question, synthesis)
      verdicts.push({ kind: question.kind, half: at % 2, verdict })
      print(`${verdict.padEnd(8)}${question.text}`)
      if (process.env.SHOW === 'all' || verdict === process.env.SHOW)
        print(`        ${synthesis.replaceAll('\n', '\n        ')}`)
    }
    for (const [kind, of] of Map.groupBy(verdicts, (one) => one.kind)) print(row(kind, of))
    for (const half of [0, 1])
      print(
        row(
          `half ${half + 1}`,
          verdicts.filter((one) => one.half === half),
        ),
      )
    print(row('all', verdicts))
  } finally {
    await place.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function row(name: string, of: readonly { readonly verdict: KindVerdict }[]): string {
  const count = (verdict: KindVerdict) => of.filter((one) => one.verdict === verdict).length
  return `${name.padEnd(14)}${of.length} questions: ${count('right')} right, ${count('honest')} honest, ${count('wrong')} wrong`
}
