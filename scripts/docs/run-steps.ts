import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { CLI_STEPS, type Step } from './cli-steps.ts'

/** What a command printed in the project of the documents. */
export interface Printed {
  readonly step: Step
  /** As a person types it: ids in their place. */
  readonly line: string
  readonly out: string
  readonly code: number
}

interface Where {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs every step in its order. Throws when one that prepares fails: nothing after it would be true. */
export async function runSteps(where: Where): Promise<readonly Printed[]> {
  const names = new Map<string, string>()
  const printed: Printed[] = []
  for (const step of CLI_STEPS) {
    const line = filled(step.line, names)
    const { out, code } = step.endless === true ? await firstLine(line, where) : await wholeOutput(step, line, where)
    keep(step, out, names)
    if (step.silent !== true) printed.push({ step, line, out, code })
  }
  return printed
}

/** Longer names first: $A is the beginning of $A_APPROVAL. */
function filled(line: string, names: ReadonlyMap<string, string>): string {
  const known = [...names].toSorted(([a], [b]) => b.length - a.length)
  return known.reduce((text, [name, value]) => text.replaceAll(name, value), line)
}

function keep({ keep: wanted = {}, line }: Step, out: string, names: Map<string, string>): void {
  for (const [name, path] of Object.entries(wanted)) {
    const found = path
      .split('.')
      .reduce<unknown>((value, part) => (value as Record<string, unknown>)?.[part], readJson(out))
    if (typeof found !== 'string') throw new Error(`${line} printed no ${path}: ${out}`)
    names.set(name, found)
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a step waits for may need a moment: the approval of a run that has just been started. */
async function wholeOutput(step: Step, line: string, where: Where) {
  for (let tries = 1; ; tries += 1) {
    const done = await run(line, where)
    const isThere =
      !Object.values(step.keep ?? {}).some((path) => path.startsWith('approvals')) || /"approval_id"/.test(done.out)
    if (isThere || tries >= 50) return done
  }
}

async function run(line: string, { cwd, env }: Where) {
  const child = spawn('bash', ['--norc', '-c', `sluice ${line} 2>&1`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const [code] = await once(child, 'close')
  return { out, code: Number(code) }
}

async function firstLine(line: string, { cwd, env }: Where) {
  const child = spawn('bash', ['--norc', '-c', `exec sluice ${line}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let out = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    out += text
    if (out.includes('\n')) child.kill('SIGINT')
  }
  return { out, code: 0 }
}
