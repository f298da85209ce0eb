import { Aws, CfnOutput, CfnRule, Fn, Stack, Token } from 'aws-cdk-lib'
import { CfnBasePathMapping, CfnDomainName, CfnRestApi, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import { AccountRootPrincipal, AnyPrincipal, Effect, type IPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { Fault } from '../../shared/errors.ts'
import type { RouteLine } from '../../shared/routes.ts'
import type { ChosenRights } from './access.ts'
import type { ApiDoor, Network } from './network-settings.ts'

/** Puts every function into the network, but steps that the settings give one of their own. */
export function placeInNetwork({ subnets, security_groups }: Network, stacks: readonly Stack[]): void {
  for (const resource of stacks.flatMap((stack) => stack.node.findAll())) {
    if (!(resource instanceof CfnFunction) || resource.vpcConfig !== undefined) continue
    resource.vpcConfig = { subnetIds: [...subnets], securityGroupIds: [...security_groups] }
  }
}

/** Source: Lambda guide, "Required IAM permissions" of a function in a VPC. None has a resource level. */
export const NETWORK_ACTIONS = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
]

/**
 * Lambda itself joins the network with the function's role; what runs in the function may not, which only a refusal can say
 * (Lambda guide, "Giving Lambda functions access to resources in a VPC").
 */
export function networkStatements(functionArn: string): readonly PolicyStatement[] {
  const of = { actions: NETWORK_ACTIONS, resources: ['*'] }
  const conditions = { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } }
  return [new PolicyStatement(of), new PolicyStatement({ ...of, effect: Effect.DENY, conditions })]
}

/** Makes the API one that only these VPC endpoints lead to. */
export function makePrivate(
  api: RestApi,
  { vpc_endpoints }: NonNullable<ApiDoor['private_api']>,
  auth: ChosenRights['auth'],
  routes: readonly RouteLine[],
): void {
  const made = api.node.defaultChild
  if (!(made instanceof CfnRestApi)) throw new Fault('Bug', 'no_rest_api', 'The API has no REST API inside.')
  made.endpointConfiguration = { types: ['PRIVATE'], vpcEndpointIds: [...vpc_endpoints] }
  for (const statement of privatePolicy(vpc_endpoints, auth, routes)) api.addToResourcePolicy(statement)
  // A policy counts from the next deployment of the API on.
  api.latestDeployment?.addToLogicalId({ private: vpc_endpoints })
}

/**
 * Who is let in besides: with signatures this account, whose identity policies still say who of it (whoever is allowed by
 * name in a resource policy needs none of them, so nobody is), and everybody where a function checks what comes. With bearer
 * credentials the authorizer says who.
 */
function privatePolicy(
  vpc_endpoints: readonly string[],
  auth: ChosenRights['auth'],
  routes: readonly RouteLine[],
): readonly PolicyStatement[] {
  const elsewhere = new PolicyStatement({
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ['execute-api:Invoke'],
    resources: ['execute-api:/*'],
    conditions: { StringNotEquals: { 'aws:SourceVpce': [...vpc_endpoints] } },
  })
  const allow = (principal: IPrincipal, ...resources: readonly string[]) =>
    new PolicyStatement({ principals: [principal], actions: ['execute-api:Invoke'], resources: [...resources] })
  if (auth !== undefined) return [elsewhere, allow(new AnyPrincipal(), 'execute-api:/*')]
  const open = routes
    .filter(({ signed_by }) => signed_by !== undefined && signed_by !== 'slack')
    .map(({ method, path }) => `execute-api:/*/${method}${path.replace(/\{\w+\}/g, '*')}`)
  return [elsewhere, allow(new AccountRootPrincipal(), 'execute-api:/*'), allow(new AnyPrincipal(), ...open)]
}

interface CustomDomainProps {
  readonly api: RestApi
  readonly domain: NonNullable<ApiDoor['domain']>
  readonly mutual_tls: ApiDoor['mutual_tls']
}

/** A domain of the operator's before the API's stage, TLS 1.2 at least; whose DNS record is the operator's to make. */
export class CustomDomain extends Construct {
  constructor(scope: Construct, id: string, { api, domain, mutual_tls }: CustomDomainProps) {
    super(scope, id)
    requireRegion(this, domain.certificate)
    const made = new CfnDomainName(this, 'Name', {
      domainName: domain.name,
      regionalCertificateArn: domain.certificate,
      endpointConfiguration: { types: ['REGIONAL'] },
      securityPolicy: 'TLS_1_2',
      ...(mutual_tls === undefined
        ? {}
        : {
            mutualTlsAuthentication: {
              truststoreUri: mutual_tls.truststore,
              ...(mutual_tls.version === undefined ? {} : { truststoreVersion: mutual_tls.version }),
            },
          }),
    })
    new CfnBasePathMapping(this, 'Mapping', {
      domainName: made.ref,
      restApiId: api.restApiId,
      stage: api.deploymentStage.stageName,
    })
    const stack = Stack.of(this)
    new CfnOutput(stack, 'DomainTarget', {
      value: made.attrRegionalDomainName,
      description: `Where a DNS record of ${domain.name} leads (CNAME, or an alias)`,
    })
    new CfnOutput(stack, 'DomainZone', {
      value: made.attrRegionalHostedZoneId,
      description: 'Hosted zone of that target, for an alias of Route 53',
    })
  }
}

/** A regional API takes a certificate of its own region; where that is not known yet, CloudFormation refuses before it changes anything. */
function requireRegion(scope: Construct, certificate: string): void {
  const region = certificate.split(':')[3] ?? ''
  const { region: own } = Stack.of(scope)
  const words = `the certificate of sluice:domain is of ${region}, and an API takes one of its own region alone (us-east-1 is for edge-optimized ones, which this is not)`
  if (!Token.isUnresolved(own) && own !== region) {
    const message = `cdk.json: context "sluice:domain": ${words}; the stage is in ${own}. Make one there and name it.`
    throw new Fault('InvalidInput', 'bad_settings', message)
  }
  new CfnRule(scope, 'CertificateRegion', {
    assertions: [{ assert: Fn.conditionEquals(Aws.REGION, region), assertDescription: words }],
  })
}
