import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Done {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Where {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs a line in bash: quotes, pipes and redirections are real. stdin is empty. */
export async function runLine(line: string, { cwd, env }: Where): Promise<Done> {
  const child = spawn('bash', ['--norc', '-c', line], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  const [code] = await once(child, 'close')
  return { code, ...said }
}
