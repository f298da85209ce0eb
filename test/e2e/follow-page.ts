import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Started, sluice, startSluice } from './run-cli.ts'

/** A page of docs/ as a stranger reads it: its files are written, its commands run, in their order, in one folder. */
export interface FollowedPage {
  /** What each command printed, in order. */
  readonly outputs: readonly (readonly [string, string])[]
  follow(): Promise<void>
  close(): Promise<void>
}

interface Followed {
  /** What files JSON without a name go to. */
  readonly json?: string
  /** Where it is followed; absent: in a folder of its own, which is gone at the end. */
  readonly top?: string
  /** What stands for `sluice`, and the environment it is typed in; absent: this checkout, without npm. */
  readonly typed?: Typed
  /** Commands that are not run. */
  readonly leaves?: RegExp
}

/** `npx`, or npm with the folder of a clone. */
export interface Typed {
  readonly words: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A block is a file when its first line says so, `# file: dags/a.yaml`. */
export function openPage(page: string, { json = '', top: given, typed, leaves }: Followed = {}): FollowedPage {
  const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8')
  const top = given ?? mkdtempSync(join(tmpdir(), 'sluice-page-'))
  const state: State = { folder: top, server: undefined, runId: '', outputs: [], typed, leaves }
  return {
    outputs: state.outputs,
    async follow() {
      for (const [, kind = '', body = ''] of text.matchAll(/^```(sh|yaml|json|ts|py)\n([\s\S]*?)^```$/gm)) {
        if (kind === 'sh') await followLines(state, body)
        else write(state, body, kind === 'json' ? json : '')
      }
    },
    async close() {
      await state.server?.stop('SIGTERM')
      if (given === undefined) rmSync(top, { recursive: true, force: true })
    },
  }
}

interface State {
  folder: string
  server: (Pick<Started, 'first'> & { stop(signal: 'SIGTERM'): Promise<unknown> }) | undefined
  /** The last run, as the text says. */
  runId: string
  readonly outputs: (readonly [string, string])[]
  readonly typed: Typed | undefined
  readonly leaves: RegExp | undefined
}

async function followLines(state: State, body: string): Promise<void> {
  for (const line of body.trimEnd().split('\n')) if (state.leaves?.test(line) !== true) await followLine(state, line)
}

async function followLine(state: State, line: string): Promise<void> {
  const [command = '', exit = '0'] = line.split(' # exit ')
  if (command.startsWith('cd ')) {
    state.folder = join(state.folder, command.slice(3))
    return
  }
  if (command === 'sluice start') {
    const words = ['start', '--port', '0', '--json']
    state.server = await (state.typed === undefined
      ? startSluice(words, state.folder)
      : startTyped(state.typed, words, state.folder))
    return
  }
  const words = wordsOf(command).slice(1)
  const done = await asked(state, words)
  state.outputs.push([command, done.out])
  expect(done.code, `${line}\n${done.out}${done.err}`).toBe(Number(exit))
  const starts = words.includes('run') && /start|retry/.test(command)
  state.runId = /run_[0-9a-z]{26}/.exec(starts ? done.out : '')?.[0] ?? state.runId
}

/** A question is open a moment after the run has started: a person would not be faster. */
async function asked({ folder, server, runId, typed }: State, given: readonly string[]) {
  const env = server === undefined ? {} : { SLUICE_URL: String(server.first.url) }
  const words = given.map((word) => word.replace(/^RUN$/, runId))
  const run = () =>
    typed === undefined
      ? sluice(words, { cwd: folder, env })
      : runTyped({ ...typed, env: { ...typed.env, ...env } }, words, folder)
  let done = await run()
  const decides = words[1] === 'approve' || words[1] === 'reject'
  for (let tries = 0; decides && done.code !== 0 && tries < 200; tries += 1) {
    await pause(100)
    done = await run()
  }
  return done
}

async function runTyped({ words: [program, ...first], env }: Typed, words: readonly string[], cwd: string) {
  const child = spawn(program, [...first, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: Number(code), out, err }
}

/** In a group of its own: npm's children end with it, as they do on Ctrl-C. */
async function startTyped({ words: [program, ...first], env }: Typed, words: readonly string[], cwd: string) {
  const child = spawn(program, [...first, ...words], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return {
    first: JSON.parse(String(line)) as Readonly<Record<string, unknown>>,
    async stop() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
      child.stdout.resume()
      await ended
    },
  }
}

/** As a shell splits them: quotes keep blanks together. */
function wordsOf(command: string): readonly string[] {
  return (command.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) => word.replaceAll('"', ''))
}

/** A block without a name only shows something. */
function write({ folder }: State, text: string, unnamed: string): void {
  const name = /^(?:#|\/\/) file: (\S+)$/m.exec(text)?.[1] ?? unnamed
  if (name === '') return
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}
