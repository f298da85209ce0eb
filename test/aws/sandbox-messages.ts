/** What a sandbox is started with. */
export interface SandboxData {
  readonly index: string
  readonly streams: boolean
  /** How far its clock is ahead, where the test has a time of its own (virtual-time.ts). */
  readonly ahead?: SharedArrayBuffer | undefined
}

/** To a sandbox: one invocation. */
export interface ToSandbox {
  readonly event: unknown
  readonly request_id: string
  readonly remaining_ms: number
  readonly crash_after?: number
}

/** From a sandbox: `ready` once, then for each invocation `answer` or `error`, a stream before it as head and chunks. */
export type FromSandbox =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'error'; readonly name: string; readonly message: string; readonly stack: string }
  | { readonly kind: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'chunk'; readonly text: string }
