import * as z from 'zod'
import type { CheckResult, Gate } from './gate.ts'

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

/** Spec gates, `shell`. A command written as text becomes argv [sh, -c, text], so that one form is compared and run. */
export const shell: Gate<Shell> = {
  type: 'shell',
  summary: 'Passes when the command ends with exit code 0. Parameters are checked; it cannot run yet.',
  params: ShellSchema,
  reads: () => [],
  unavailable: true,
  examples: [
    { check: { command: ['node', '--version'] }, passes: true, needs: 'shell' },
    { check: { command: 'exit 3' }, passes: false, needs: 'shell' },
  ],
  check: notAvailable,
}

function notAvailable(): CheckResult {
  const reason =
    "shell gates are not available yet: this version has no separate function and no operator's list of allowed commands"
  return { passed: false, error: true, reason }
}
