import * as z from 'zod'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import type { GatePorts } from '../gate-ports.ts'

const word = z
  .string()
  .max(4_000)
  .refine((text) => !text.includes('\0'), 'a command has no NUL character')
const notBlank = word.regex(/\S/, 'the command is blank')

const ShellSchema = z.strictObject({
  command: z.union([
    z
      .array(word)
      .min(1)
      .max(100)
      .refine((argv) => /\S/.test(argv[0] ?? ''), 'the first word of the command is blank'),
    notBlank.transform((text) => ['sh', '-c', text]),
  ]),
  timeout_ms: z.int().min(1).max(300_000).default(10_000),
})
type Shell = z.infer<typeof ShellSchema>

/**
 * A command written as text becomes argv [sh, -c, text], so that one form is compared and run. It is
 * carried out by shell-gate, for commands that the operator lists (docs/operate.md, "Gates").
 */
export const shell: Gate<Shell> = {
  type: 'shell',
  summary:
    "Passes when the command ends with exit code 0; off unless the operator's list allows it, with no environment, in an empty folder.",
  params: ShellSchema,
  reads: () => [],
  examples: [
    { check: { command: ['node', '--version'] }, passes: true, needs: 'shell' },
    { check: { command: 'exit 3' }, passes: false, needs: 'shell' },
  ],
  check,
}

async function check(
  { command: argv, timeout_ms }: Shell,
  _facts: GateFacts,
  ports: Pick<GatePorts, 'shell'>,
): Promise<CheckResult> {
  if (ports.shell === undefined) return broken('shell gates cannot run anything here')
  const answer = await ports.shell.run({ argv, timeout_ms })
  if (answer.kind === 'refused') return broken(answer.reason)
  const shown = `the command ${JSON.stringify(argv.slice(0, 3).map((text) => safeOneLine(text, 40)))}`
  if (answer.kind === 'killed') return broken(`${shown} did not end: ${answer.reason}`)
  const { exit_code, stdout, stderr } = answer
  const said = { exit_code, stdout: end(stdout), stderr: end(stderr) }
  if (exit_code === 0) return { passed: true, reason: `${shown} ended with 0`, facts: said }
  const why = end(stderr) === '' ? end(stdout) : end(stderr)
  const reason = `${shown} must end with 0, it ended with ${exit_code}${why === '' ? '' : ` and said: ${why}`}`
  return { passed: false, reason, facts: said }
}

function broken(reason: string): CheckResult {
  return { passed: false, error: true, reason }
}

/** What a program says last is what went wrong. */
function end(text: string): string {
  return safeOneLine(text.slice(-400).trim().slice(-120), 120)
}
