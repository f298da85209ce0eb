import type { ToolPin } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'

/** A tool as a server of the Model Context Protocol tells of it. */
export interface McpTool {
  readonly name: string
  readonly description: string
  /** A JSON Schema of an object. */
  readonly input_schema: Json
}

/** What a call of one came to. */
export interface McpResult {
  /** Its texts, one after the other; what is no text is told by its kind and size. */
  readonly text: string
  /** `structuredContent`, where it gave some. */
  readonly structured?: Json
  /** The tool says of itself that it failed. */
  readonly is_error: boolean
}

/**
 * Servers of the Model Context Protocol under `mcp_servers` in sluice.yaml (docs/agents.md). Nothing a server says changes
 * what is allowed: that is the settings' and the document's.
 */
export interface McpServers {
  /** Names of the configured servers. */
  names(): readonly string[]
  /**
   * The tools that the settings allow of a server, as it tells of them now. Fault InvalidInput unknown_mcp_server,
   * InvalidInput mcp_key_missing, Unavailable mcp_unavailable (facts.retry_after_ms where it said so), Rejected mcp_refused
   * (it does not take the key), InvalidInput mcp_invalid.
   */
  tools(server: string, signal: AbortSignal): Promise<readonly McpTool[]>
  /**
   * Calls one tool once, after it was compared with what the run froze (its hash by `toolHash`): Fault Rejected
   * tool_changed where it differs, with both descriptions in facts. Until the call is sent, faults are as with `tools`, and
   * an abort throws its reason; after that, whatever keeps the answer away is Unavailable mcp_answer_lost, for it may have
   * been done. A server that refuses the call in words answers it: a result with is_error.
   */
  call(server: string, call: McpCall): Promise<McpResult>
}

export interface McpCall {
  readonly tool: string
  readonly expected: Pick<ToolPin, 'hash' | 'description' | 'input_schema'>
  readonly args: Readonly<Record<string, Json>>
  /** The same for the same attempt; sent as `_meta` for servers that dedupe. */
  readonly key: string
  readonly signal: AbortSignal
}
