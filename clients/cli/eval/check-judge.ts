import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { Json } from '../../../shared/text/json.ts'

interface Question {
  readonly check: Json
  readonly inputs: Readonly<Record<string, Json>>
  readonly outputs: Readonly<Record<string, Json>>
  readonly measured: {
    readonly cost_usd: number | null
    readonly latency_ms: number | null
    readonly tokens: number | null
  }
  readonly error?: string
}

interface Answer {
  readonly status: string
  readonly reason: string
}

/** Judges checks without a server, as `sluice gates check` does. */
export interface CheckJudge {
  judge(question: Question): Promise<Answer>
  close(): Promise<void>
}

const AnswerSchema = z.looseObject({ id: z.number(), status: z.string(), reason: z.string() })

/** The program of the place that has the isolate; it is started with the first question. */
export function openCheckJudge(): CheckJudge {
  let opened: ReturnType<typeof openProgram> | undefined
  return {
    judge(question) {
      opened ??= openProgram()
      return opened.ask(question)
    },
    async close() {
      await opened?.close()
    },
  }
}

function openProgram() {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../../../infra/local/check-gates.ts', import.meta.url))],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const asked = new Map<number, (answer: Answer) => void>()
  let number = 0
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = AnswerSchema.safeParse(JSON.parse(line)).data
    if (answer === undefined) return
    asked.get(answer.id)?.(answer)
    asked.delete(answer.id)
  })
  // Fail closed: what nobody answered has not passed.
  void ended.then(() => {
    for (const answer of asked.values()) answer({ status: 'error', reason: 'the program that judges checks ended' })
  })
  child.stdin.on('error', () => {})
  return {
    ask(question: Question): Promise<Answer> {
      number += 1
      const id = number
      return new Promise((resolve) => {
        asked.set(id, resolve)
        child.stdin.write(`${JSON.stringify({ id, ...question })}\n`)
      })
    },
    async close() {
      child.stdin.end()
      await ended
    },
  }
}
