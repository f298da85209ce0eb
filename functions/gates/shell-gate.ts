import * as z from 'zod'
import type { ShellAnswer } from '../../shared/gates/gate-ports.ts'
import { shellRefusal } from '../../shared/gates/shell-refusal.ts'
import { functionHandler } from '../handler.ts'
import { runCommand } from './run-command.ts'

const CommandSchema = z.strictObject({
  argv: z.array(z.string()).min(1).max(100),
  timeout_ms: z.int().min(1).max(300_000),
})

/** The function of shell gates: it runs what the operator's list allows, with no right but to log. */
export const handler = functionHandler({
  name: 'shell-gate',
  input: CommandSchema,
  run: async (command, { settings }): Promise<ShellAnswer> => {
    const refusal = shellRefusal(settings.shell_gates, command.argv)
    return refusal === undefined ? runCommand(command, settings.shell_gates.path) : { kind: 'refused', reason: refusal }
  },
})
