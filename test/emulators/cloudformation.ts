import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Outputs = Readonly<Record<string, string>>

/** DescribeStacks of AWS CloudFormation's query protocol, for stacks by name with their outputs. */
export async function cloudFormation(stacks: Readonly<Record<string, Outputs>>) {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const asked = new URLSearchParams(text)
    const name = asked.get('StackName') ?? ''
    const outputs = asked.get('Action') === 'DescribeStacks' ? stacks[name] : undefined
    response.setHeader('content-type', 'text/xml')
    if (outputs === undefined) return void response.writeHead(400).end(missing(name))
    response.end(described(name, outputs))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) }
}

const SPACE = 'xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"'

function missing(name: string): string {
  return `<ErrorResponse ${SPACE}><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error><RequestId>r-1</RequestId></ErrorResponse>`
}

function described(name: string, outputs: Outputs): string {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  return `<DescribeStacksResponse ${SPACE}><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-11-01T00:00:00Z</CreationTime><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult><ResponseMetadata><RequestId>r-2</RequestId></ResponseMetadata></DescribeStacksResponse>`
}
