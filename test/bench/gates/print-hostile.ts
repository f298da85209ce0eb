import type { Isolate } from '../../../shared/ports/isolate.ts'
import { judgeHostileChecks, judgeHostileValues } from '../../machines/judge-hostile.ts'

interface Given {
  readonly isolate: Isolate
  readonly print: (line: string) => void
}

/** The hostile list with every answer; test/integration/gates/hostile.test.ts pins them. */
export async function printHostile({ isolate, print }: Given): Promise<void> {
  print('\nHostile checks and addresses: what comes of them, in milliseconds')
  for (const { row, answer } of await judgeHostileChecks(isolate)) {
    print(`  ${cell(row.name, 52)}${cell(answer.status, 9)}${ms(answer.ms)}  ${answer.reason.slice(0, 110)}`)
  }
  const answers = await judgeHostileValues(isolate, 'whole')
  const types = new Set(answers.map(({ type }) => type))
  print(`\nHostile values in the ports of ${types.size} gate types (all that are not named fail)`)
  for (const name of new Set(answers.map(({ given }) => given.name))) {
    const here = answers.filter(({ given }) => given.name === name)
    const of = (status: string) => here.filter(({ answer }) => answer.status === status).map(({ type }) => type)
    const slowest = here.reduce((most, one) => (one.answer.ms > most.answer.ms ? one : most))
    const words = (['passed', 'error'] as const).flatMap((status) =>
      of(status).length === 0 ? [] : [`${status}: ${of(status).join(' ')}`],
    )
    print(`  ${cell(name, 48)}slowest${ms(slowest.answer.ms)} (${slowest.type})  ${words.join('; ')}`)
  }
  const all = answers.map(({ answer }) => answer.ms)
  print(`  ${answers.length} verdicts, the slowest took ${Math.round(Math.max(...all))} ms`)
}

function cell(text: string, width: number): string {
  return text.length < width ? text.padEnd(width) : `${text.slice(0, width - 3)}.. `
}

function ms(value: number): string {
  return value.toFixed(0).padStart(5)
}
