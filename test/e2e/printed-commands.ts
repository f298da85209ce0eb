import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'

type Env = Readonly<Record<string, string | undefined>>

/** The lines below `Next:` of `sluice init`, without the words behind each. */
function printedCommands(out: string): readonly string[] {
  const [, next = ''] = out.split(/^Next:$/m)
  return [...next.matchAll(/^ {2}(\S.*?)(?: {2,}.*)?$/gm)].map(([, line = '']) => line)
}

/** Types each of them into one shell after the other, as it is printed; the last one serves until it is ended. Answers what the others said. */
export async function typePrinted(out: string, folder: string, env: Env): Promise<string> {
  const lines = printedCommands(out)
  expect(lines).toEqual([
    'cd brief',
    expect.stringMatching(/validate$/),
    expect.stringMatching(/run start$/),
    expect.stringMatching(/test$/),
    expect.stringMatching(/start$/),
  ])
  // The port it prints may be another program's here.
  const settings = join(folder, 'brief', 'sluice.yaml')
  writeFileSync(settings, readFileSync(settings, 'utf8').replace('port: 4040', 'port: 0'))
  const last = lines.at(-1) ?? ''
  const typed = ['set -e', ...lines.slice(0, -1)].join('\n')
  const done = spawnSync('bash', ['--norc', '-c', typed], { cwd: folder, env, encoding: 'utf8' })
  expect(done.status, `${done.stdout}${done.stderr}`).toBe(0)
  await served(last, join(folder, 'brief'), env)
  return done.stdout
}

async function served(line: string, cwd: string, env: Env): Promise<void> {
  // A group of its own: what npm starts ends with it, as it does on Ctrl-C.
  const child = spawn('bash', ['--norc', '-c', line], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  try {
    for await (const said of createInterface({ input: child.stdout })) {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
      if (url === undefined) continue
      expect((await fetch(`${url}/api/health`)).status).toBe(200)
      return
    }
    throw new Error(`${line}: ended without an address`)
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
    child.stdout.resume()
    await ended
  }
}
