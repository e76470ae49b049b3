type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The source and the builder of the release: the predicate of SLSA provenance v1 for a workflow of GitHub Actions, from the variables
 * that GitHub sets. Throws if one is missing.
 */
export function provenance(environment: Environment): object {
  const of = (name: string): string => {
    const value = environment[`GITHUB_${name}`];
    if (!value) throw new Error(`GITHUB_${name} is not set: a release is made by its workflow`);
    return value;
  };
  const repository = `${of('SERVER_URL')}/${of('REPOSITORY')}`;
  const path = of('WORKFLOW_REF')
    .replace(/@.*$/, '')
    .replace(`${of('REPOSITORY')}/`, '');
  return {
    buildDefinition: {
      buildType: 'https://actions.github.io/buildtypes/workflow/v1',
      externalParameters: { workflow: { ref: of('REF'), repository, path } },
      internalParameters: { github: { event_name: of('EVENT_NAME'), repository_id: of('REPOSITORY_ID') } },
      resolvedDependencies: [{ uri: `git+${repository}@${of('REF')}`, digest: { gitCommit: of('SHA') } }],
    },
    runDetails: {
      builder: { id: `${of('SERVER_URL')}/${of('WORKFLOW_REF')}` },
      metadata: { invocationId: `${repository}/actions/runs/${of('RUN_ID')}/attempts/${of('RUN_ATTEMPT')}` },
    },
  };
}
