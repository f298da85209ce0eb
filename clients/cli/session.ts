import type { SignedTarget } from './aws/signed-target.ts'
import type { LocalLogin } from './local-login.ts'
import { readSettings, type Settings } from './settings.ts'

/** What a command talks to: the terminal (or pipe) it was started on, and its settings. */
export interface Session {
  readonly settings: Settings
  /** The deployment on AWS this command line names (choose-stack.ts finds it before the command runs). */
  signed?: SignedTarget
  /** What opens the place here that this command line names, where it asks for a login of its start. */
  login?: LocalLogin
  /** The value of an environment variable that sluice.yaml names. */
  key(name: string): string | undefined
  /** The environment of a program it starts: its own, and more. */
  environment(more: Readonly<Record<string, string>>): Readonly<Record<string, string | undefined>>
  /** One line, or several, to stdout. */
  say(text: string): void
  /** To stderr. */
  warn(text: string): void
  /** Unended text or bytes to stdout: parts of a live view, NDJSON, artifacts. Resolves when the reader keeps up. */
  write(text: string | Uint8Array): Promise<void>
  /** stdout is a terminal. */
  readonly terminal: boolean
  /** stdout is a terminal whose cursor can be moved. */
  readonly live: boolean
  /** A person can be asked: stdin and stdout are terminals. */
  readonly asks: boolean
  size(): { readonly columns: number; readonly rows: number }
}

export function openSession(): Session {
  const settings = readSettings(process.env)
  const { stdin, stdout, stderr } = process
  const terminal = stdout.isTTY === true
  return {
    settings: { ...settings, color: settings.color && (terminal || settings.forceColor === true) },
    say: (text) => void stdout.write(`${text}\n`),
    warn: (text) => void stderr.write(`${text}\n`),
    write: (text) =>
      stdout.write(text) ? Promise.resolve() : new Promise((resolve) => stdout.once('drain', () => resolve())),
    key: (name) => process.env[name],
    environment: (more) => ({ ...process.env, ...more }),
    terminal,
    live: terminal && settings.cursor,
    asks: terminal && stdin.isTTY === true,
    size: () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }),
  }
}
