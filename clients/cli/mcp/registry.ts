import { APPROVAL_TOOLS } from './approval-tools.ts'
import { DOCUMENT_TOOLS } from './document-tools.ts'
import { RESEARCH_GRAPH } from './research-tool.ts'
import { RUN_TOOLS } from './run-tools.ts'
import type { Tool } from './tool.ts'

/** Every tool, in the order in which they are listed. */
export const MCP_TOOLS: readonly Tool[] = [...RUN_TOOLS, ...APPROVAL_TOOLS, ...DOCUMENT_TOOLS, RESEARCH_GRAPH]
