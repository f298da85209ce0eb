import { environment } from './environment.ts'

/** Where X-Ray says this invocation belongs. */
interface XrayTrace {
  /** `1-<8 hex digits>-<24>`, as its console and its queries write it. */
  readonly root: string
  /** 16 hex digits; absent = nobody called. */
  readonly parent?: string
}

/**
 * Lambda sets this value anew for each invocation: `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1`.
 * Undefined where there is none, or none like that.
 */
export function xrayTrace(env: NodeJS.ProcessEnv = environment): XrayTrace | undefined {
  const parts = new Map((env._X_AMZN_TRACE_ID ?? '').split(';').map((part) => splitOnce(part)))
  const root = parts.get('Root') ?? ''
  const parent = parts.get('Parent') ?? ''
  if (!/^1-[0-9a-f]{8}-[0-9a-f]{24}$/.test(root)) return undefined
  return { root, ...(/^[0-9a-f]{16}$/.test(parent) ? { parent } : {}) }
}

function splitOnce(part: string): readonly [string, string] {
  const [name = '', value = ''] = part.trim().split('=')
  return [name, value]
}
