Network Mixed {
  Layer CONV1 { Type: CONV
    Stride { X: 2, Y: 2 }
    Dimensions { K: 64, C: 3 R: 7, S: 7, Y:229, X:229 }
    Dataflow { TemporalMap(1,1) K; Cluster(64, P); }
  }
  Layer DW { Type: DSCONV; Dimensions { K: 1, C: 32, R: 3, S: 3, Y:112, X:112 } }
  Layer GR { Type: NGCONV; Dimensions { G: 32, K: 4, C: 128, R: 3, S: 3, Y': 56, X': 56 } }
  Layer UP { Type: TRCONV Dimensions { K: 512, C: 1024, R: 2, S: 2, Y: 28, X: 28 } }
  Layer GEMM { Type: GEMM Dimensions { M: 4, N: 5, K: 6 } } // end
}
