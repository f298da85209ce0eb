import type { LambdaClientConfig } from '@aws-sdk/client-lambda'
import type { Shell, ShellAnswer } from '../../shared/gates/gate-ports.ts'
import { shellRefusal } from '../../shared/gates/shell-refusal.ts'
import { createCall } from './call-function.ts'
import type { Core } from './world.ts'

/** The Shell port: a call of shell-gate. Where the stage's settings allow no command there is no such function to call. */
export function openShell({ env, settings }: Pick<Core, 'env' | 'settings'>, config: LambdaClientConfig = {}): Shell {
  const call = createCall<ShellAnswer>({ env }, 'shell-gate', config)
  return {
    async run(command) {
      const reason = shellRefusal(settings.shell_gates, command.argv)
      return reason === undefined ? call(command, command.timeout_ms) : { kind: 'refused', reason }
    },
  }
}
